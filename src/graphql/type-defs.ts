import { readFileSync } from 'node:fs';
import { gql } from 'graphql-tag';

/** The path is the same from `src/graphql/` and from the build's `dist/server/`. */
const SCHEMA_FOLDER = new URL('../../schema/', import.meta.url);

export function typeDefs(file: string) {
  return gql(readFileSync(new URL(file, SCHEMA_FOLDER), 'utf8'));
}
