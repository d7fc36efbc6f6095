import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  GraphQLString,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';

/** Can a value from JSON be one of a certain type? Undefined is one that was left out. */
export type Fits = (value: unknown) => boolean;

/**
 * Says the same as graphql-js's `coerceInputValue`, which walks the type anew for each value; here that is done once. What
 * does not fit is for someone else to explain, and so is every value of a `@oneOf` type.
 */
export function fitterOf(type: GraphQLInputType): Fits {
  if (isNonNullType(type)) {
    const fits = fitterOf(type.ofType);
    return (value) => value != null && fits(value);
  }
  if (isListType(type)) {
    const fits = fitterOf(type.ofType);
    // One value stands for a list of one.
    return (value) => value == null || (Array.isArray(value) ? value.every((item) => fits(item)) : fits(value));
  }
  return isInputObjectType(type) ? objectFitter(type) : leafFitter(type);
}

function objectFitter(type: GraphQLInputObjectType): Fits {
  if (type.isOneOf) return (value) => value == null;
  const fields = Object.values(type.getFields());
  // At first use: a type may have a field of its own type.
  let fitters: Map<string, Fits> | undefined;
  const required = fields.filter((field) => isNonNullType(field.type) && field.defaultValue === undefined);
  return (value) => {
    if (value == null) return true;
    if (typeof value !== 'object' || Array.isArray(value)) return false;
    fitters ??= new Map(fields.map((field) => [field.name, fitterOf(field.type)]));
    for (const [name, inner] of Object.entries(value)) if (!fitters.get(name)?.(inner)) return false;
    return required.every(({ name }) => Object.hasOwn(value, name));
  };
}

function leafFitter(type: GraphQLLeafType): Fits {
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
