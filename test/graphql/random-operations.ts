import { sealedJudgements } from '../support/judgements.ts';

/** Makes up operations that are valid against our schema, one for each seed: as a router might send them, and odder. */

export interface MadeUp {
  readonly document: string;
  readonly variables: Record<string, unknown>;
}

type Pick = <T>(values: readonly T[]) => T;

interface Writer {
  readonly pick: Pick;
  /** True this often. */
  readonly chance: (share: number) => boolean;
  /** Writes a value as a literal, or as a variable of this type. */
  readonly value: (type: string, value: unknown) => string;
  /** A named fragment with these fields. */
  readonly fragment: (type: string, fields: string) => string;
  /** A key of the answer that nothing else in the operation has, or none. */
  readonly alias: () => string;
}

/** Deterministic: mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const TOKENS = ['android', 'android', 'web', 'rejected', 'unavailable', 'broken', ''];
/** Two sealed judgements, whose keys `sealedJudgements` has as well, and a text that nobody sealed. */
const SEALED = [...sealedJudgements().map(({ sealed }) => sealed), 'made up'];
const LEAVES: Readonly<Record<string, readonly string[]>> = {
  Signal: ['name', 'code', 'level', 'confidence', 'effect', 'meaning', '__typename'],
  SignalDefinition: ['code', 'level', 'confidence', 'effect', 'meaning', '__typename'],
  DeviceOperatingSystem: ['name', 'version', 'additional', '__typename'],
  WebBrowser: ['name', 'version', 'major', 'additional', '__typename'],
  WebDevice: ['model', 'vendor', 'additional', '__typename'],
};

export function makeUp(seed: number): MadeUp {
  const random = randomOf(seed);
  const variables: Record<string, unknown> = {};
  const definitions: string[] = [];
  const fragments: string[] = [];
  let aliases = 0;
  const pick: Pick = (values) => {
    const value = values[Math.floor(random() * values.length)];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  };
  const chance = (share: number) => random() < share;
  const writer: Writer = {
    pick,
    chance,
    value: (type, value) => {
      if (chance(0.5)) return literalOf(type, value);
      const name = `v${definitions.length}`;
      definitions.push(`$${name}: ${type}`);
      variables[name] = value;
      return `$${name}`;
    },
    fragment: (type, fields) => {
      fragments.push(`fragment F${fragments.length} on ${type} { ${fields} }`);
      return `...F${fragments.length - 1}`;
    },
    alias: () => {
      aliases += 1;
      return chance(0.5) ? `a${aliases}: ` : '';
    },
  };
  const isMutation = chance(0.2);
  const roots = Array.from(
    { length: pick([1, 1, 2, 3]) },
    (_, at) => `${pick(['r', 'r_', 'R'])}${at}: ${isMutation ? captcha(writer) : root(writer)}`,
  );
  // Some of what was written was not chosen in the end.
  const body = withFragments(roots.join(' '), fragments);
  const used = definitions.filter((definition) => isIn(body, definition.slice(0, definition.indexOf(':'))));
  const head = `${isMutation ? 'mutation' : 'query'} Op${used.length > 0 ? `(${used.join(', ')})` : ''}`;
  return { document: `${head} ${body}`, variables };
}

const isIn = (text: string, name: string) => new RegExp(`${name.replaceAll(/[.$]/g, '\\$&')}\\b`).test(text);

/** The selection with the fragments that it spreads, and those that these spread; a fragment only spreads earlier ones. */
function withFragments(roots: string, fragments: readonly string[]): string {
  let body = `{ ${roots} }`;
  for (const [at, fragment] of [...fragments.entries()].reverse()) {
    if (isIn(body, `...F${at}`)) body += `\n${fragment}`;
  }
  return body;
}

function literalOf(type: string, value: unknown): string {
  if (typeof value === 'string' && /Level/.test(type)) return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, inner]) => `${name}: ${literalOf('', inner)}`);
  return Array.isArray(value)
    ? `[${value.map((inner) => literalOf('', inner)).join(', ')}]`
    : `{ ${fields.join(', ')} }`;
}

/** Some of these fields, some of them twice, some behind a condition or in a fragment; never none. */
function some(writer: Writer, type: string, fields: readonly string[]): string {
  const { chance, pick, value, fragment } = writer;
  const chosen = fields.filter(() => chance(0.6));
  const kept = chosen.length > 0 ? chosen : [pick(fields)];
  const written = kept.map((field) => {
    const condition = () => `${pick(['@skip', '@include'])}(if: ${value('Boolean!', chance(0.5))})`;
    if (chance(0.08) && /^\w+$/.test(field)) return `${field} ${condition()}`;
    if (chance(0.1)) return `... on ${type}${chance(0.2) ? ` ${condition()}` : ''} { ${field} }`;
    return chance(0.08) ? fragment(type, field) : field;
  });
  if (chance(0.1)) written.push(pick(kept));
  return written.join(' ');
}

const leaves = (writer: Writer, type: string) => some(writer, type, LEAVES[type] ?? []);

function device(writer: Writer): string {
  const { alias, value, chance, pick } = writer;
  const filters = [
    ...(chance(0.3) ? [`minLevel: ${value('SignalLevel', pick(['LOW', 'MEDIUM', 'HIGH', null]))}`] : []),
    ...(chance(0.3) ? [`minConfidence: ${value('Float', pick([0, 0.9, 1, 2, null]))}`] : []),
  ];
  /** An alias that is the path of another field, from its end, as graphql-jit joins it. */
  const likePath = (field: string) => (chance(0.3) ? `${field}_judgement: ` : '');
  return some(writer, 'DeviceFingerprint', [
    ...'publicKey requestId eventId version clientType __typename'.split(' '),
    `${likePath('decision')}decision { ${some(writer, 'DeviceRiskDecision', ['action', 'rule', 'policy', '__typename'])} }`,
    `${likePath('device') || alias()}device { ${some(writer, 'FingerprintDevice', ['id', '__typename'])} }`,
    `${alias()}ipInfo { ${some(writer, 'IpInfo', ['ip', '__typename'])} }`,
    `${alias()}deviceBasic { __typename ... on Mobile { ${mobile(writer)} } ... on Web { ${web(writer)} } }`,
    `judgement { ${some(writer, 'DeviceJudgement', ['eventId', 'eventType', 'subject', 'decision { action }', 'device { id }', 'signals { name }'])} }`,
    `${likePath('signals') || 'a_signals: '}signals${filters.length > 0 ? `(${filters.join(', ')})` : ''} { ${leaves(writer, 'Signal')} }`,
  ]);
}

/** A judgement that was sealed before. Its name for the signals is another than that of `device`, whose are not null. */
function stored(writer: Writer): string {
  const { alias } = writer;
  return some(writer, 'DeviceJudgement', [
    'j_sealed: sealed',
    'isShortened',
    'judgedAt',
    'subject',
    'eventType',
    'j_id: eventId',
    `j_device: device { ${some(writer, 'FingerprintDevice', ['id', '__typename'])} }`,
    `${alias()}decision { action rule policy }`,
    `j_basic: deviceBasic { __typename ... on Mobile { ${mobile(writer)} } ... on Web { ${web(writer)} } }`,
    `j_signals: signals(minLevel: ${writer.value('SignalLevel', writer.pick(['LOW', 'HIGH', null]))}) { ${leaves(writer, 'Signal')} }`,
  ]);
}

function mobile(writer: Writer): string {
  return some(writer, 'Mobile', ['architecture', 'model', `os { ${leaves(writer, 'DeviceOperatingSystem')} }`]);
}

function web(writer: Writer): string {
  return some(writer, 'Web', [
    `browser { ${leaves(writer, 'WebBrowser')} }`,
    `${writer.alias()}device { ${leaves(writer, 'WebDevice')} }`,
    `os { ${leaves(writer, 'DeviceOperatingSystem')} }`,
  ]);
}

function root(writer: Writer): string {
  const { pick, value, chance } = writer;
  const kind = pick(['judge', 'judge', 'judge', 'entities', 'entities', 'catalogue', '__typename']);
  if (kind === '__typename') return kind;
  if (kind === 'catalogue') return `signalCatalogue { ${leaves(writer, 'SignalDefinition')} }`;
  if (kind === 'entities') {
    const one = () =>
      chance(0.3)
        ? { __typename: 'DeviceJudgement', sealed: pick(SEALED) }
        : { __typename: pick(['DeviceFingerprint', 'DeviceFingerprint', 'Nothing']), token: pick(TOKENS) };
    const references = Array.from({ length: pick([0, 1, 2, 5]) }, one);
    return `_entities(representations: ${value('[_Any!]!', references)}) { __typename ... on DeviceFingerprint { ${device(writer)} } ... on DeviceJudgement { ${stored(writer)} } }`;
  }
  const arguments_ = [
    `token: ${value('String!', pick(TOKENS))}`,
    ...(chance(0.2) ? [`publicKey: ${value('ID', pick(['pk_1', 'pk_unknown', null]))}`] : []),
    ...(chance(0.2) ? [`eventType: ${value('String', pick(['login', null]))}`] : []),
    ...(chance(0.2) ? [`eventTime: ${value('DateTime', '2026-03-01T09:30:00.123456789+01:00')}`] : []),
    ...(chance(0.2)
      ? [`metadata: ${value('DeviceMetadataInput', { email: 'a@b.example', additional: { x: [1, null] } })}`]
      : []),
  ];
  const rejected = `... on DeviceFingerprintRejected { ${some(writer, 'DeviceFingerprintRejected', ['reason', '__typename', 'errors { field reason type }'])} }`;
  return `deviceFingerprint(${arguments_.join(', ')}) { __typename ... on DeviceFingerprint { ${device(writer)} } ${rejected} }`;
}

function captcha(writer: Writer): string {
  const { pick, value } = writer;
  const lotNumber = pick(['passes', 'fails', 'is open', 'throws']);
  const named = pick([{}, { audience: 'orders', action: 'placeOrder' }]);
  const input = { lotNumber, captchaOutput: 'o', passToken: 'p', genTime: pick(['1', 'x']), ...named };
  return `validateCaptcha(input: ${value('ValidateCaptchaInput!', input)}) { ${some(writer, 'CaptchaValidation', [
    '__typename',
    'proceed',
    'attestation',
    '... on CaptchaPassed { attestation details { usedType scene } }',
    '... on CaptchaFailed { reason category }',
    '... on CaptchaIndeterminate { cause code message }',
  ])} }`;
}
