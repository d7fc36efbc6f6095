import type { IncomingMessage } from 'node:http';
import type { DeviceMetadata, MetadataKey } from '../graphql/caller.ts';
import { clientAddressOf } from './client-address.ts';
import { singleHeader, textOf } from './single-header.ts';

/** A header that carries a key of the metadata. */
export interface MetadataHeader {
  /** Its name in lower case. */
  readonly header: string;
  /** May an argument stand in for the header if that is absent? By default the header alone counts. */
  readonly from?: 'header' | 'header-or-argument' | undefined;
}

interface AddressHeader extends MetadataHeader {
  readonly hops?: number | undefined;
  readonly port?: boolean | undefined;
}

/** Which headers carry the metadata of a question. `ipAddr` is an address of either kind. */
export type MetadataHeaders = {
  readonly [Key in MetadataKey]?: MetadataHeader | undefined;
} & { readonly ipAddr?: AddressHeader | undefined };

/** Counts arguments that were dropped; 0 creates the counter. */
export type OnDropped = (key: MetadataKey, count: number) => void;

/** A header, prepared for requests. */
interface Source {
  /** The keys that it decides about. */
  readonly keys: readonly MetadataKey[];
  readonly isOptional: boolean;
  read(request: IncomingMessage): Found;
}
type Found = { readonly key: MetadataKey; readonly value: string } | undefined;

/** The longest value that is read, in characters. Few user agents have more than 500. */
const MAX_LENGTH = 1_024;
const ADDRESS_KEYS: readonly MetadataKey[] = ['ipAddrV4', 'ipAddrV6'];

/** Gives the function that completes the metadata of one request's questions. Without a request, all headers are absent. */
export type MetadataReader = (request: IncomingMessage | undefined) => (given: Given) => DeviceMetadata;
type Given = DeviceMetadata | null | undefined;

/** Prepares the headers once. The headers of a request are read when its first question is asked, and only then. */
export function createMetadataReader(headers: MetadataHeaders, onDropped: OnDropped): MetadataReader {
  const sources = sourcesOf(headers);
  for (const key of sources.flatMap(({ keys }) => keys)) onDropped(key, 0);
  return (request) => {
    let values: readonly Found[] | undefined;
    return (given) => {
      values ??= sources.map((source) => request && source.read(request));
      const metadata = { ...given };
      for (const [index, { keys, isOptional }] of sources.entries()) {
        const found = values[index];
        if (!found && isOptional) continue;
        for (const key of keys) {
          // V8 makes an object slow from which something is deleted, even if it was not there.
          if (!(key in metadata)) continue;
          if (metadata[key] != null) onDropped(key, 1);
          delete metadata[key];
        }
        if (found) metadata[found.key] = found.value;
      }
      return metadata;
    };
  };
}

function sourcesOf({ ipAddr, ...others }: MetadataHeaders): Source[] {
  // Sound: the type of `others` has these keys only, and Object.entries widens them to string.
  const texts = Object.entries(others) as [MetadataKey, MetadataHeader | undefined][];
  const sources = texts.flatMap(([key, from]) => (from ? [textSource(key, from)] : []));
  return ipAddr ? [...sources, addressSource(ipAddr)] : sources;
}

function textSource(key: MetadataKey, { header, from }: MetadataHeader): Source {
  return {
    keys: [key],
    isOptional: from === 'header-or-argument',
    read: (request) => {
      const value = textOf(request, header, MAX_LENGTH);
      return value === undefined ? undefined : { key, value };
    },
  };
}

function addressSource({ header, from, ...form }: AddressHeader): Source {
  return {
    keys: ADDRESS_KEYS,
    isOptional: from === 'header-or-argument',
    read: (request) => {
      const value = singleHeader(request, header);
      return value === undefined ? undefined : clientAddressOf(value, form);
    },
  };
}
