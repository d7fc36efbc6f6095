import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { ask } from '../support/requests.ts';

/** Composes subgraphs that run, from what each says about itself, as a platform team's pipeline does. */
export async function composeSupergraph(urls: Readonly<Record<string, string>>): Promise<string> {
  const services = Object.entries(urls).map(async ([name, url]) => ({ name, url, typeDefs: parse(await sdlOf(url)) }));
  const { errors = [], supergraphSdl } = composeServices(await Promise.all(services));
  if (!supergraphSdl) throw new Error(`expected a supergraph, but got:\n${errors.join('\n')}`);
  return supergraphSdl;
}

/** The schema of a subgraph, as a router asks for it. */
export async function sdlOf(url: string): Promise<string> {
  const { data } = await ask(url, '{ _service { sdl } }');
  return data._service.sdl;
}
