import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
} from 'graphql';
import { CANARY, createChoices } from './random-inputs.ts';

/**
 * GraphQL documents made of the names of a schema: valid ones, with values that nobody expects, and wild ones, with
 * everything that does not belong there. Fragments may spread each other in cycles, up to 12 of them.
 */

const GARBAGE_NAMES = 'x _ __proto__ constructor toString __schema __type on fragment null'.split(' ');
const GARBAGE = [
  '{',
  '}}',
  '...',
  '@',
  '$',
  '"',
  '"""',
  '#',
  '\ufeff',
  '\u0000',
  '§',
  '&',
  '|',
  '!',
  '\\u{110000}',
  '1.e',
];
const NUMBERS = ['0', '-1', '-0', '1e400', '-1e400', '9007199254740993', '2147483648', '9'.repeat(300), '3e38'];
const ENDINGS = ['', '\\n', '\\u0000', '\\u001b[2J', '\\u{1F9E9}', 'é', "'", '<b>', '\\\\'];
const DIRECTIVES = 'skip(if: true)|skip(if: $v0)|include(if: 1)|deprecated|defer|tag(name: "x")|skip'.split('|');
/** These give back what was sent, as documented. */
const ECHOES = new Set(['token', 'lotNumber']);

/** Gives a function that makes a document of a list of numbers. */
export function createDocumentMaker(schema: GraphQLSchema): (numbers: readonly number[]) => string {
  const types = Object.values(schema.getTypeMap());
  const typeNames = types.map(({ name }) => name);
  const compositeNames = types.filter(isCompositeType).map(({ name }) => name);
  const fieldNames = types.flatMap((type) => ('getFields' in type ? Object.keys(type.getFields()) : []));
  const enumValues = types.flatMap((type) => (isEnumType(type) ? type.getValues().map(({ name }) => name) : []));

  return (numbers) => {
    const { upTo, chance, oneOf, several } = createChoices(numbers);
    const isWild = chance(50);
    const fragments = isWild ? upTo(chance(10) ? 11 : 2) : -1;
    let aliases = 0;

    /** For what does not belong into a valid document. */
    const mad = (percent: number) => isWild && chance(percent);
    const text = () => `"${CANARY}${upTo(999)}${oneOf(ENDINGS)}${mad(5) ? '\\ud800' : ''}"`;
    const name = () => (chance(70) ? oneOf(fieldNames) : oneOf(GARBAGE_NAMES));
    const deep = (open: string, close: string) => open.repeat(upTo(900)) + close.repeat(upTo(900));
    const directives = () => {
      if (mad(15)) return `@${oneOf(DIRECTIVES)}`;
      return chance(5) ? `@include(if: ${oneOf(['true', 'false'])})` : '';
    };

    /** Any value at all. */
    function anything(depth = 0): string {
      const kind = upTo(depth > 4 ? 5 : 7);
      if (kind === 0) return text();
      if (kind === 1) return oneOf(NUMBERS);
      if (kind === 2) return oneOf(enumValues);
      if (kind === 3) return oneOf(['true', 'false', 'null', '""', `"""${CANARY}\n  """`]);
      if (kind === 4) return isWild ? `$v${upTo(3)}` : '{}';
      if (kind === 5) return mad(20) ? deep('[', ']') : '[]';
      if (kind === 6) return `[${several(4, () => anything(depth + 1))}]`;
      return `{ ${several(4, (index) => `${isWild ? name() : `k${index}`}: ${anything(depth + 1)}`)} }`;
    }

    /** A value of this type, unless the document is wild. */
    function valueFor(type: GraphQLInputType): string {
      if (mad(12)) return anything();
      const nullable = getNullableType(type);
      if (isListType(nullable)) return `[${several(3, () => valueFor(nullable.ofType))}]`;
      if (isEnumType(nullable)) return oneOf(nullable.getValues()).name;
      if (isInputObjectType(nullable)) {
        const given = Object.values(nullable.getFields()).filter((field) => isRequiredInputField(field) || chance(40));
        return `{ ${given.map((field) => `${field.name}: ${valueFor(field.type)}`).join(' ')} }`;
      }
      switch (nullable.name) {
        case 'Int':
        case 'Float':
          return oneOf(['0', '1', '7', '-1']);
        case 'Boolean':
          return oneOf(['true', 'false']);
        case 'DateTime':
          return '"2026-03-01T09:30:00Z"';
        case 'JSONObject':
          return `{ ${several(4, (index) => `k${index}: ${anything(1)}`)} }`;
        case '_Any':
          return `{ __typename: "${chance(70) ? 'DeviceFingerprint' : oneOf(typeNames)}" token: ${anything(3)} k: ${anything(3)} }`;
        default:
          return chance(20) ? '"17"' : text();
      }
    }

    function argumentsOf(definitions: readonly GraphQLArgument[]): string {
      const defined = definitions.filter((argument) => (isRequiredArgument(argument) ? !mad(10) : chance(40)));
      const given = defined.map((argument) => `${argument.name}: ${valueFor(argument.type)}`);
      if (mad(5)) given.push(`${name()}: ${anything()}`);
      return given.length > 0 ? `(${given.join(' ')})` : '';
    }

    function field(definition: GraphQLField<unknown, unknown>, depth: number): string {
      const type = getNamedType(definition.type);
      aliases += 1;
      const alias = definition.args.length > 0 || chance(10) ? `a${mad(30) ? 0 : aliases}: ` : '';
      const inner = isCompositeType(type) !== mad(3) ? selections(type.name, depth + 1) : '';
      return `${alias}${mad(3) ? name() : definition.name}${argumentsOf(definition.args)} ${directives()} ${inner}`;
    }

    function selection(typeName: string, depth: number): string {
      const type = schema.getType(typeName);
      const fields = type && isCompositeType(type) && !isUnionType(type) ? Object.values(type.getFields()) : [];
      const harmless = fields.filter((one) => !ECHOES.has(one.name));
      if (depth > 7 || chance(8)) return '__typename';
      if (mad(8)) return `...f${upTo(fragments + 1)} ${directives()}`;
      if (harmless.length === 0 || chance(isAbstractType(type) ? 60 : 10)) {
        const possible = isAbstractType(type) ? schema.getPossibleTypes(type).map((one) => one.name) : [typeName];
        const on = mad(10) ? oneOf(typeNames) : oneOf(possible);
        return `... on ${on} ${directives()} ${selections(on, depth + 1)}`;
      }
      return field(oneOf(harmless), depth);
    }

    function selections(typeName: string, depth: number): string {
      return `{ ${selection(typeName, depth)} ${several(mad(3) ? 40 : 3, () => selection(typeName, depth))} }`;
    }

    function operation(index: number): string {
      const kind = mad(5) ? 'subscription' : oneOf(['query', 'query', 'mutation']);
      const defined = isWild
        ? several(4, (n) => `$v${n}: ${oneOf(typeNames)}${oneOf(['', '!', ` = ${anything()}`])}`)
        : '';
      const root = kind === 'mutation' ? 'Mutation' : 'Query';
      return `${kind} O${index} ${defined && `(${defined})`} ${isWild ? directives() : ''} ${selections(root, 0)}`;
    }

    if (mad(4)) return several(60, () => oneOf([...GARBAGE, ...GARBAGE_NAMES]));
    if (mad(4)) return deep('{ a ', '}');
    const definitions = Array.from({ length: fragments + 1 }, (_, index) => {
      const on = oneOf(mad(10) ? typeNames : compositeNames);
      return `fragment f${index} on ${on} ${selections(on, 3)}`;
    });
    const document = [operation(0), ...(mad(5) ? [operation(1)] : []), ...definitions].join('\n');
    return mad(5) ? document.slice(0, upTo(document.length)) + oneOf(GARBAGE) : document;
  };
}
