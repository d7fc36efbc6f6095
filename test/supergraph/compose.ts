import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';

/** Composes subgraphs that run, from what each says about itself, as a platform team's pipeline does. */
export async function composeSupergraph(urls: Readonly<Record<string, string>>): Promise<string> {
  const services = Object.entries(urls).map(async ([name, url]) => ({ name, url, typeDefs: parse(await sdlOf(url)) }));
  const { errors = [], supergraphSdl } = composeServices(await Promise.all(services));
  if (!supergraphSdl) throw new Error(`expected a supergraph, but got:\n${errors.join('\n')}`);
  return supergraphSdl;
}

/** The schema of a subgraph, as a router asks for it. */
export async function sdlOf(url: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ _service { sdl } }' }),
  });
  // Sound: this is the answer that federation prescribes; anything else fails here or in the parser.
  const { data } = (await response.json()) as { data: { _service: { sdl: string } } };
  return data._service.sdl;
}
