import { randomUUID } from 'node:crypto';
import { registerHooks } from 'node:module';
import { TextDocument } from 'vscode-languageserver-textdocument';

// GitHub's packages are written for bundlers: they import JSON without saying so, which Node refuses.
const hooks = registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
});
const { validate } = await import('@actions/languageservice');
hooks.deregister();

/** What GitHub's own validator reports about a workflow: its syntax, its expressions, and what they refer to. */
export async function lintWorkflow(text: string): Promise<string[]> {
  // It keeps what it parsed for each address, so each text has one of its own.
  const document = TextDocument.create(`file:///.github/workflows/${randomUUID()}.yml`, 'yaml', 1, text);
  const found = await validate(document, {});
  return found.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
}
