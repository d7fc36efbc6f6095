import { composeServices } from '@apollo/composition';
import { composeSchemaContract } from '@theguild/federation-composition';
import { type DocumentNode, parse } from 'graphql';
import { ask } from '../support/requests.ts';
import { headersFor, type Secrets } from './subgraph-headers.ts';

/** Composes subgraphs that run, from what each says about itself, as a platform team's pipeline does. */

interface Service {
  readonly name: string;
  readonly url?: string;
  readonly typeDefs: DocumentNode;
}

/** The whole supergraph. */
export async function composeSupergraph(urls: Readonly<Record<string, string>>, secrets: Secrets): Promise<string> {
  const { errors = [], supergraphSdl } = composeServices(await servicesAt(urls, secrets));
  if (!supergraphSdl) throw new Error(`expected a supergraph, but got:\n${errors.join('\n')}`);
  return supergraphSdl;
}

/** The contract variant for browsers: the supergraph without what is tagged `risk`. */
export async function composeShopVariant(urls: Readonly<Record<string, string>>, secrets: Secrets): Promise<string> {
  return withoutRisk(await servicesAt(urls, secrets)).supergraphSdl;
}

/**
 * Composes a contract that excludes the tag `risk`, and types that nothing leads to any more. As GraphOS does it, a gateway
 * still knows what is excluded, but as `@inaccessible`: it is in no introspection, and nobody can ask for it.
 */
export function withoutRisk(services: readonly Service[]): { supergraphSdl: string; publicSdl: string } {
  const tags = { include: new Set<string>(), exclude: new Set(['risk']) };
  const { errors = [], supergraphSdl, publicSdl } = composeSchemaContract([...services], tags, true);
  if (!supergraphSdl || !publicSdl) throw new Error(`expected a contract, but got:\n${errors.join('\n')}`);
  return { supergraphSdl, publicSdl };
}

function servicesAt(urls: Readonly<Record<string, string>>, secrets: Secrets) {
  const services = Object.entries(urls).map(async ([name, url]) => {
    return { name, url, typeDefs: parse(await sdlOf(url, headersFor(secrets, name))) };
  });
  return Promise.all(services);
}

/** The schema of a subgraph, as a router asks for it. */
export async function sdlOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { data } = await ask(url, '{ _service { sdl } }', {}, headers);
  return data._service.sdl;
}
