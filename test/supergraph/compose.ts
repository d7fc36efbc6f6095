import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { post } from '../support/requests.ts';
import { subgraphHeaders } from './subgraph-headers.ts';

/** Composes subgraphs that run, from what each says about itself, as a platform team's pipeline does. */
export async function composeSupergraph(urls: Readonly<Record<string, string>>): Promise<string> {
  const services = Object.entries(urls).map(async ([name, url]) => {
    return { name, url, typeDefs: parse(await sdlOf(url, subgraphHeaders(name))) };
  });
  const { errors = [], supergraphSdl } = composeServices(await Promise.all(services));
  if (!supergraphSdl) throw new Error(`expected a supergraph, but got:\n${errors.join('\n')}`);
  return supergraphSdl;
}

/** The schema of a subgraph, as a router asks for it. */
export async function sdlOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { data } = await post(url, JSON.stringify({ query: '{ _service { sdl } }' }), headers);
  return data._service.sdl;
}
