import { generateKeyPairSync, randomInt, sign } from 'node:crypto';

/** The few kinds of DER value that a certificate is made of (X.690, 8), by their tags. */
const [INTEGER, BIT_STRING, OCTET_STRING, UTF8_STRING, UTC_TIME] = [0x02, 0x03, 0x04, 0x0c, 0x17] as const;
const [SEQUENCE, SET, VERSION, EXTENSIONS, DNS_NAME] = [0x30, 0x31, 0xa0, 0xa3, 0x82] as const;
const OID = { commonName: '0603550403', subjectAltName: '0603551d11', ecdsaWithSha256: '06082a8648ce3d040302' };

function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  // Nothing here comes near 64 KiB.
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const text = (tag: number, value: string) => der(tag, Buffer.from(value));
const oid = (name: keyof typeof OID) => Buffer.from(OID[name], 'hex');
/** `YYMMDDhhmmssZ` */
const time = (date: Date) => text(UTC_TIME, `${date.toISOString().replace(/\D/g, '').slice(2, 14)}Z`);

interface Options {
  /** The host that it is for. */
  readonly host: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A certificate that vouches for itself (RFC 5280, 4.1), and its key, both as PEM. */
export function makeCertificate({ host, notBefore, notAfter }: Options): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = der(SEQUENCE, oid('ecdsaWithSha256'));
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, oid('commonName'), text(UTF8_STRING, host))));
  const hosts = der(SEQUENCE, oid('subjectAltName'), der(OCTET_STRING, der(SEQUENCE, text(DNS_NAME, host))));
  const content = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1, randomInt(256), randomInt(256), randomInt(256)])),
    algorithm,
    name,
    der(SEQUENCE, time(notBefore), time(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, hosts)),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', content, privateKey));
  const base64 = der(SEQUENCE, content, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}
