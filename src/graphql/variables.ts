import {
  coerceInputValue,
  type GraphQLInputType,
  type GraphQLSchema,
  GraphQLString,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { DeviceTrustError } from '../errors.ts';
import { propertiesOf } from '../runtime/json.ts';
import { SCALAR_EXPECTATIONS } from './scalars.ts';

/** The most problems that a message names. */
const MAX_PROBLEMS = 5;

/** The problems at which the check stops: graphql-js makes an error object with suggestions for each problem. */
const MAX_COUNTED = 20;

export type DeclaredVariables = ReturnType<typeof declaredBy>;

/** The variables that an operation declares, by name. */
export function declaredBy(definition: OperationDefinitionNode, schema: GraphQLSchema) {
  const declared = new Map<string, { readonly type: GraphQLInputType; readonly hasDefault: boolean }>();
  for (const { variable, type: node, defaultValue } of definition.variableDefinitions ?? []) {
    const type = typeFromAST(schema, node);
    if (isInputType(type)) declared.set(variable.name.value, { type, hasDefault: defaultValue !== undefined });
  }
  return declared;
}

/** Removes undeclared variables, so that a request does not hold them while it waits for upstreams. */
export function dropUndeclared(declared: DeclaredVariables, variables: Record<string, unknown>): void {
  for (const name of Object.keys(variables)) if (!declared.has(name)) delete variables[name];
}

/** Checks variables in place of graphql-js, whose messages quote values such as tokens and addresses. @throws BAD_USER_INPUT */
export function checkVariables(declared: DeclaredVariables, given: Readonly<Record<string, unknown>>): void {
  const problems: string[] = [];
  for (const [name, { type, hasDefault }] of declared) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined) {
      if (isNonNullType(type) && !hasDefault) problems.push(`$${name}: expected ${type}, but got nothing`);
    } else if (!isCertainlyValid(value, type)) {
      coerceInputValue(value, type, (path, invalid) => {
        const at = `$${[name, ...path].join('.')}: `;
        // An object has one problem, however many of its fields are missing or unknown.
        problems.push(problems.find((problem) => problem.startsWith(at)) ?? at + explain(typeAt(type, path), invalid));
        if (problems.length >= MAX_COUNTED) throw toError(problems);
      });
    }
  }
  if (problems.length > 0) throw toError(problems);
}

function toError(problems: readonly string[]): DeviceTrustError {
  const distinct = [...new Set(problems)];
  const shown = distinct.slice(0, MAX_PROBLEMS).join('; ');
  const rest = distinct.length - MAX_PROBLEMS;
  const more = rest > 0 ? `; and ${problems.length < MAX_COUNTED ? '' : 'at least '}${rest} more` : '';
  return new DeviceTrustError('BAD_USER_INPUT', { message: `${shown}${more}.` });
}

/** A fast check, because most values are valid. graphql-js checks all other values, and takes five times as long. */
function isCertainlyValid(value: unknown, type: GraphQLInputType): boolean {
  if (isNonNullType(type)) return value != null && isCertainlyValid(value, type.ofType);
  if (value == null) return true;
  if (isListType(type)) return Array.isArray(value) && value.every((item) => isCertainlyValid(item, type.ofType));
  if (type === GraphQLString) return typeof value === 'string';
  if (!isInputObjectType(type) || type.isOneOf || typeof value !== 'object' || Array.isArray(value)) return false;
  const fields = type.getFields();
  // Safe: any property of an object can be read.
  const given = value as Record<string, unknown>;
  for (const name in given) {
    const field = fields[name];
    if (!field || !isCertainlyValid(given[name], field.type)) return false;
  }
  for (const name in fields) {
    const field = fields[name];
    if (field && isRequiredInputField(field) && !(name in given)) return false;
  }
  return true;
}

/** The type that the schema has at a path below a variable. */
function typeAt(type: GraphQLInputType, path: readonly (string | number)[]): GraphQLInputType {
  const [step, ...rest] = path;
  if (step === undefined) return type;
  const nullable = getNullableType(type);
  if (isListType(nullable)) return typeAt(nullable.ofType, rest);
  const field = isInputObjectType(nullable) ? nullable.getFields()[step] : undefined;
  return field ? typeAt(field.type, rest) : type;
}

function explain(type: GraphQLInputType, value: unknown): string {
  const nullable = getNullableType(type);
  if (!isInputObjectType(nullable) || kindOf(value) !== 'an object')
    return `expected ${expectationOf(type)}, but got ${kindOf(value)}`;
  const fields = nullable.getFields();
  const required = Object.values(fields).filter((field) => isNonNullType(field.type));
  const missing = required.filter(({ name }) => !Object.hasOwn(propertiesOf(value), name)).map(({ name }) => name);
  const lacks = missing.length > 0 && `without ${missing.join(', ')}`;
  const has = Object.keys(propertiesOf(value)).some((name) => !fields[name]) && 'with fields that it does not define';
  return `expected ${type}, but got an object ${[lacks, has].filter(Boolean).join(' and ')}`;
}

/** Completes the sentence "expected …", in words of the schema alone. Live mode suggests no values. */
export function expectationOf(type: GraphQLInputType): string {
  const nullable = getNullableType(type);
  if (isEnumType(nullable)) return `a value of the enum ${nullable.name}`;
  return (isScalarType(nullable) && SCALAR_EXPECTATIONS.get(nullable.name)) || String(type);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
