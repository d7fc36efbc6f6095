import { find, make } from './dom.ts';

/** What a question came to. */
export interface Answer {
  /** One sentence, which a screen reader reads out as soon as it is there. */
  readonly summary: string;
  readonly details: readonly Node[];
}

/** Asks with the fields of a form. It may say what it does meanwhile. */
type Ask = (fields: FormData, report: (progress: string) => void) => Promise<Answer>;

/**
 * Asks with each submission of a form, and shows the answer below it: in the elements whose ids are the form's with
 * `-status` and `-result`. While one is under way, no other is sent.
 */
export function onSubmit(formId: string, ask: Ask): void {
  const form = find(formId, HTMLFormElement);
  const status = find(`${formId}-status`, HTMLElement);
  const result = find(`${formId}-result`, HTMLElement);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (form.ariaBusy === 'true') return;
    form.ariaBusy = 'true';
    const report = (text: string) => {
      status.textContent = text;
    };
    report('Asking …');
    result.replaceChildren();
    const { summary, details } = await ask(new FormData(form, event.submitter), report).catch(answerOfFault);
    report(summary);
    result.replaceChildren(...details);
    form.ariaBusy = 'false';
  });
}

/** What the page could not even ask, or not show. */
function answerOfFault(fault: unknown): Answer {
  return { summary: 'That did not work.', details: [make('p', '', fault instanceof Error ? fault.message : '')] };
}
