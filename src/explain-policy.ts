import { existsSync, readFileSync } from 'node:fs';
import { DEFAULT_POLICY, type PolicySignal, policyFile, type RiskPolicy } from './fingerprint/policy.ts';
import { CLIENTS, type Device, describe, differences, explain, summaryTable } from './fingerprint/policy-report.ts';
import { LEVELS, SIGNALS_BY_NAME } from './fingerprint/signal-catalogue.ts';
import { isObject, parseJson } from './runtime/json.ts';

const USAGE = `npm run policy -- POLICY                    its rules, and what it decides about each signal;
                                            exits with 3 if all get the same action, or a rule never acts
npm run policy -- POLICY SIGNALS [CLIENT] [eventType=WORD]
                                            which rule acts, and why each rule before it does not
npm run policy -- POLICY DEVICES            the same in short for each device of a file
npm run policy -- POLICY OTHER              where the policy in another file decides differently

POLICY is a file, or built-in (the default). SIGNALS are EMULATOR=0.7,BLACKLIST_IP or none, with the catalogue's
confidence unless one is given. CLIENT is ANDROID, IOS, WEB_H5 or OTHER. DEVICES has one line of SIGNALS and CLIENT
for each device, or judgements as JSON, as the graph returns them, with the id of the object around each, such as an order.`;

class UsageError extends Error {}

try {
  process.stdout.write(`${answer(process.argv.slice(2)).join('\n')}\n`);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

function answer([path = 'built-in', ...words]: readonly string[]): string[] {
  const policy = path === 'built-in' ? DEFAULT_POLICY : policyIn(path);
  const [input] = words;
  if (input === undefined) {
    const { lines, flaws } = describe(policy, path);
    if (flaws.length > 0) process.exitCode = 3;
    return lines;
  }
  if (words.length > 1 || !existsSync(input)) return explain(policy, parseDevice(words));
  const text = textOf(input);
  const json = parseJson(text);
  if (isObject(json) && 'rules' in json) return differences(policy, policyIn(input), input);
  return summaryTable(policy, devicesIn(text, json));
}

/** @throws UsageError with every mistake in the file */
function policyIn(path: string): RiskPolicy {
  const { data, error } = policyFile.safeParse(textOf(path));
  if (error) throw new UsageError(error.issues.map(({ message }) => `${path}: ${message}`).join('\n'));
  return data;
}

/** @throws UsageError, for example for a folder */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`expected a file that can be read, but got ${path}.\n\n${USAGE}`);
  }
}

/** @throws UsageError that names the unknown word */
function parseDevice([names = '', ...others]: readonly string[]): Device {
  const clientType = CLIENTS.find((one) => others.includes(one));
  const eventType = others.find((word) => word.startsWith('eventType='))?.slice('eventType='.length);
  const unknown = others.find((word) => word !== clientType && word !== `eventType=${eventType}`);
  if (unknown !== undefined) throw new UsageError(`expected a client or eventType=…, but got ${unknown}.\n\n${USAGE}`);
  const signals = names === 'none' ? [] : names.split(',').map(parseSignal);
  return { name: [names, ...others].join(' '), signals, clientType, eventType };
}

function parseSignal(word: string): PolicySignal {
  const [, name = '', confidence] = /^(\w+)(?:=(0(?:\.\d+)?|1(?:\.0+)?))?$/.exec(word) ?? [];
  const row = SIGNALS_BY_NAME.get(name);
  if (!row) throw new UsageError(`expected a file, or signals such as EMULATOR=0.7, but got ${word}.\n\n${USAGE}`);
  return { ...row, name, confidence: confidence === undefined ? row.confidence : Number(confidence) };
}

/** A device for each line of SIGNALS, or for each judgement at any depth of JSON, which is the whole text or a line of it. */
function devicesIn(text: string, json: unknown): Device[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (json !== undefined) return judgementsIn(json);
  return lines.flatMap((line) => {
    const value = parseJson(line);
    return value === undefined ? parseDevice(line.trim().split(/\s+/)) : judgementsIn(value);
  });
}

/** @param owner the id of the object around the value, such as an order */
function judgementsIn(value: unknown, owner?: unknown): Device[] {
  if (Array.isArray(value)) return value.flatMap((one) => judgementsIn(one, owner));
  if (!isObject(value)) return [];
  const { signals, clientType: client, eventType: event, requestId, id = owner ?? requestId } = value;
  if (!Array.isArray(signals)) return Object.values(value).flatMap((one) => judgementsIn(one, id));
  const clientType = CLIENTS.find((one) => one === client);
  const judged = signals.filter(isObject).map(({ name, code, level, confidence }): PolicySignal => {
    const row = SIGNALS_BY_NAME.get(String(code ?? name));
    const rank = LEVELS.find((one) => one === level) ?? row?.level;
    if (rank === undefined) throw new UsageError('expected a level of each signal of a judgement, but one has none.');
    const { code: documented = null, effect = null, confidence: usual = 1 } = row ?? {};
    const certainty = typeof confidence === 'number' ? confidence : usual;
    return { name: String(name ?? code), code: documented, effect, level: rank, confidence: certainty };
  });
  const eventType = typeof event === 'string' ? event : undefined;
  const words = [judged.map(({ name, confidence }) => `${name}=${confidence}`).join(',') || 'none', clientType];
  const name = [id && `${id}:`, ...words, eventType && `eventType=${eventType}`].filter(Boolean).join(' ');
  return [{ name, signals: judged, clientType, eventType }];
}
