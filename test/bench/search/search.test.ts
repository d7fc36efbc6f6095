import { OverlappingFieldsCanBeMergedRule, parse, specifiedRules, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { buildSchema } from '../../../src/graphql/schema.ts';
import { createRandom } from '../random.ts';
import { type Genome, isWritable } from './genome.ts';
import { createMutator, resized } from './mutate.ts';
import { requestOf } from './request.ts';

/** The search for the most expensive request sends what a client could send: limits refuse some of it, and the schema nothing. */

const COUNT = 200;
/** Whether fields conflict is left to the server: that question alone can cost much. */
const RULES = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

/** Random requests, each changed a few times. */
function requests(seed: number): Genome[] {
  const { randomGenome, mutated } = createMutator(createRandom(seed));
  return Array.from({ length: COUNT }, (_, at) => {
    let genome = randomGenome();
    for (let changes = at % 8; changes > 0; changes -= 1) genome = mutated(genome);
    while (!isWritable(genome)) genome = resized(genome, 0.5);
    return genome;
  });
}

describe('the requests of a search', () => {
  test('are valid documents, except that fields can conflict', () => {
    const schema = buildSchema();
    const messages = requests(7).flatMap((genome) => {
      const { query } = JSON.parse(requestOf(genome, 'Search'));
      return validate(schema, parse(query), RULES).map(({ message }) => message);
    });
    expect(messages).toEqual([]);
  });

  test('ask for every root field, and carry every kind of value', () => {
    const all = requests(7).map((genome) => requestOf(genome, 'Search'));
    for (const part of [
      '_entities(',
      '_service',
      'deviceFingerprint(',
      'signalCatalogue',
      'validateCaptcha(',
      '"__typename":"DeviceJudgement"',
      '"__typename":"Nothing"',
      '"deep":{',
      '[[[',
      '"extensions":{',
      '@include',
      'fragment F0 on',
      'query Other0',
    ]) {
      expect(all.filter((body) => body.includes(part))).not.toEqual([]);
    }
  });

  test('follow from the seed', () => {
    expect(requests(3)).toEqual(requests(3));
    expect(requests(3)).not.toEqual(requests(4));
  });
});
