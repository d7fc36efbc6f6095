/** What can happen to a judgement. */
export const JUDGEMENT_OUTCOMES = ['sealed', 'opened', 'unreadable'] as const;

export type JudgementOutcome = (typeof JUDGEMENT_OUTCOMES)[number];
