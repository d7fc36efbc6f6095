import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  GraphQLString,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';

/** Is a value from JSON valid for a certain input type? Undefined stands for a value that was left out. */
export type InputCheck = (value: unknown) => boolean;

/**
 * Makes the check of a type. It comes to the same result as graphql-js's `coerceInputValue`, which walks the type again for
 * each value: here the type is walked once. A value that is not valid gets its error message from `checkVariables`. So does
 * every value of a `@oneOf` type, which is never valid here.
 */
export function inputCheckOf(type: GraphQLInputType): InputCheck {
  if (isNonNullType(type)) {
    const isValid = inputCheckOf(type.ofType);
    return (value) => value != null && isValid(value);
  }
  if (isListType(type)) {
    const isValid = inputCheckOf(type.ofType);
    // A single value stands for a list of one.
    return (value) => value == null || (Array.isArray(value) ? value.every((item) => isValid(item)) : isValid(value));
  }
  return isInputObjectType(type) ? objectCheckOf(type) : leafCheckOf(type);
}

function objectCheckOf(type: GraphQLInputObjectType): InputCheck {
  if (type.isOneOf) return (value) => value == null;
  const fields = Object.values(type.getFields());
  // Made at first use, because a type may have a field of its own type.
  let checks: Map<string, InputCheck> | undefined;
  const required = fields.filter((field) => isNonNullType(field.type) && field.defaultValue === undefined);
  return (value) => {
    if (value == null) return true;
    if (typeof value !== 'object' || Array.isArray(value)) return false;
    checks ??= new Map(fields.map((field) => [field.name, inputCheckOf(field.type)]));
    for (const [name, inner] of Object.entries(value)) if (!checks.get(name)?.(inner)) return false;
    return required.every(({ name }) => Object.hasOwn(value, name));
  };
}

function leafCheckOf(type: GraphQLLeafType): InputCheck {
  if (type === GraphQLString) return (value) => value == null || typeof value === 'string';
  return (value) => {
    if (value == null) return true;
    try {
      return type.parseValue(value) !== undefined;
    } catch {
      return false;
    }
  };
}
