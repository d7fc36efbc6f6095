import { type Variable, whole } from './values.ts';

/** The rows of `VARIABLES` that say how much one request may ask. */
export const REQUEST_LIMITS = {
  maxBodyBytes: {
    name: 'MAX_BODY_BYTES',
    description: 'Size of a request body',
    ...whole(1_024, 10_485_760),
    default: '524288',
  },
  maxTokens: { name: 'MAX_TOKENS', description: 'Lexical tokens of a document', ...whole(10, 5_000), default: '2000' },
  maxDepth: { name: 'MAX_DEPTH', description: 'Levels of a document', ...whole(1, 100), default: '12' },
  maxAliases: { name: 'MAX_ALIASES', description: 'Aliases in an operation', ...whole(0, 10_000), default: '100' },
  maxDirectives: {
    name: 'MAX_DIRECTIVES',
    description: 'Directives in an operation',
    ...whole(0, 10_000),
    default: '50',
  },
  maxRepresentations: {
    name: 'MAX_REPRESENTATIONS',
    description: 'Entity references in a request',
    ...whole(1, 100_000),
    default: '1000',
  },
  maxCost: {
    name: 'MAX_COST',
    description: 'Cost of a request: its fields, once for each reference and each item of a list, and its values',
    ...whole(100, 10_000_000),
    default: '119000',
  },
  maxAnswerBytes: {
    name: 'MAX_ANSWER_BYTES',
    description: 'Size of an answer',
    ...whole(1_024, 104_857_600),
    default: '8388608',
  },
  maxUpstreamCalls: {
    name: 'MAX_UPSTREAM_CALLS',
    description: 'Fingerprint calls of a request; the next different token fails alone',
    ...whole(1, 10_000),
    default: '100',
  },
  maxCaptchas: {
    name: 'MAX_CAPTCHAS',
    description: 'Captchas that a request may verify; the next one fails alone',
    ...whole(1, 100),
    default: '1',
  },
} as const satisfies Record<string, Variable>;
