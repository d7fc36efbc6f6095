import { type GraphQLArgument, getNamedType, isEnumType, isRequiredArgument } from 'graphql';

/** The values that an argument can have. */

/** What stands in a document for a value that a variable carries, by the type of the variable. */
export const VARIABLES = {
  references: '[_Any!]!',
  metadata: 'JSONObject',
  device: 'DeviceMetadataInput',
  text: 'String',
  proof: 'ValidateCaptchaInput!',
  yes: 'Boolean!',
} as const;

/** By name, for those whose values mean something; `{}` stands for the number of the copy. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  token: ['"phone{}"', '"phone"', '"page{}"', '"few{}"', '"bad{}"'],
  metadata: ['{ additional: $metadata }', '$device', '{ accountId: $text, additional: $metadata }'],
  eventType: ['$text', '"checkout"'],
  eventTime: ['"2026-11-22T02:03:04.123456789+01:00"'],
  publicKey: ['"pk_bench"', '"pk_unknown"'],
  representations: ['$references'],
  input: ['$proof'],
  minConfidence: ['0', '0.5', '1', '2'],
};

/** All that fit this argument; undefined is among them if it may be absent. */
export function valuesOf(argument: GraphQLArgument): readonly (string | undefined)[] {
  const type = getNamedType(argument.type);
  const values = isEnumType(type) ? type.getValues().map(({ name }) => name) : KNOWN[argument.name];
  if (!values) throw new RangeError(`the search has no value for the argument ${argument.name}`);
  return isRequiredArgument(argument) ? values : [undefined, ...values];
}
