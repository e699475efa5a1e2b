// Sign with @sigstore/mock, which needs no network: bundles, their root, file and key into the
// folder that is named. Everything that pinproof's tests sign is signed by code of their own; this
// is somebody else's.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dsse } from '@sigstore/core';
import { initializeCA, initializeCTLog, initializeTLog, initializeTSA } from '@sigstore/mock';

const [folder, identity, issuer] = process.argv.slice(2);
const curve = (namedCurve) => generateKeyPairSync('ec', { namedCurve });
const b64 = (bytes) => Buffer.from(bytes).toString('base64');
const sha256 = (bytes) => createHash('sha256').update(bytes).digest();
const spki = (pair) => pair.publicKey.export({ format: 'der', type: 'spki' });
const pem = (pair) => pair.publicKey.export({ format: 'pem', type: 'spki' });

const keys = { ca: curve('P-384'), ct: curve('P-256'), log: curve('P-256'), tsa: curve('P-384') };
const ct = await initializeCTLog(keys.ct);
const ca = await initializeCA(keys.ca, ct);
const log = await initializeTLog('https://rekor.mock', keys.log);
const tsa = await initializeTSA(keys.tsa);

const artifact = Buffer.from('signed by somebody else\n');
const statement = Buffer.from(
  JSON.stringify({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'artifact', digest: { sha256: sha256(artifact).toString('hex') } }],
    predicateType: 'https://example.test/built/v1',
    predicate: {},
  }),
);

async function certified(pair) {
  const der = await ca.issueCertificate({
    publicKey: spki(pair),
    subjectAltName: identity,
    extensions: [
      { oid: '1.3.6.1.4.1.57264.1.1', value: issuer, legacy: true },
      { oid: '1.3.6.1.4.1.57264.1.8', value: issuer },
    ],
  });
  const body = b64(der).match(/.{1,64}/g).join('\n');
  return { der, pem: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n` };
}

async function entry(body) {
  const [made] = Object.values(await log.log(body));
  const proof = made.verification.inclusionProof;
  return {
    logIndex: String(made.logIndex),
    logId: { keyId: b64(Buffer.from(made.logID, 'hex')) },
    kindVersion: { kind: body.kind, version: body.apiVersion },
    integratedTime: String(made.integratedTime),
    inclusionPromise: { signedEntryTimestamp: made.verification.signedEntryTimestamp },
    inclusionProof: {
      logIndex: String(proof.logIndex),
      rootHash: b64(Buffer.from(proof.rootHash, 'hex')),
      treeSize: String(proof.treeSize),
      hashes: [],
      checkpoint: { envelope: proof.checkpoint },
    },
    canonicalizedBody: made.body,
  };
}

async function stamp(signature) {
  return tsa.timestamp({
    artifactHash: sha256(signature),
    hashAlgorithmOID: '2.16.840.1.101.3.4.2.1',
    nonce: 1,
    policyOID: '1.3.6.1.4.1.57264.2',
    certReq: true,
  });
}

async function bundle({ content, who, stamped }) {
  const pair = curve('P-256');
  const certificate = who === 'certificate' ? await certified(pair) : undefined;
  const verifier = b64(certificate ? certificate.pem : pem(pair));
  const type = 'application/vnd.in-toto+json';
  const signed = content === 'message' ? artifact : dsse.preAuthEncoding(type, statement);
  const signature = sign('sha256', signed, pair.privateKey);
  const hash = (bytes) => ({ algorithm: 'sha256', value: sha256(bytes).toString('hex') });
  const envelope = {
    payload: b64(statement),
    payloadType: type,
    signatures: [{ sig: b64(signature), keyid: '' }],
  };
  const body =
    content === 'message'
      ? {
          apiVersion: '0.0.1',
          kind: 'hashedrekord',
          spec: {
            data: { hash: hash(artifact) },
            signature: { content: b64(signature), publicKey: { content: verifier } },
          },
        }
      : {
          apiVersion: '0.0.1',
          kind: 'dsse',
          spec: {
            envelopeHash: hash(JSON.stringify(envelope)),
            payloadHash: hash(statement),
            signatures: [{ signature: b64(signature), verifier }],
          },
        };
  const stamps = stamped ? [{ signedTimestamp: b64(await stamp(signature)) }] : [];
  const document = {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: {
      ...(certificate
        ? { certificate: { rawBytes: b64(certificate.der) } }
        : { publicKey: { hint: 'ours' } }),
      tlogEntries: [await entry(body)],
      timestampVerificationData: { rfc3161Timestamps: stamps },
    },
    ...(content === 'message'
      ? {
          messageSignature: {
            messageDigest: { algorithm: 'SHA2_256', digest: b64(sha256(artifact)) },
            signature: b64(signature),
          },
        }
      : { dsseEnvelope: envelope }),
  };
  const name = `${content}-${who}-${stamped ? 'stamped' : 'logged'}`;
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(document));
  if (!certificate) writeFileSync(join(folder, `${name}.pub`), pem(pair));
}

for (const content of ['message', 'statement']) {
  for (const who of ['certificate', 'key']) {
    for (const stamped of [false, true]) await bundle({ content, who, stamped });
  }
}

const validFor = { start: new Date(Date.now() - 86400000).toISOString() };
const instance = (baseUrl, pair) => ({
  baseUrl,
  hashAlgorithm: 'SHA2_256',
  publicKey: { rawBytes: b64(spki(pair)), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor },
  logId: { keyId: b64(sha256(spki(pair))) },
});
const authority = (uri, ...chain) => ({
  subject: { organization: 'sigstore.mock', commonName: uri },
  uri,
  certChain: { certificates: chain.map((der) => ({ rawBytes: b64(der) })) },
  validFor,
});
writeFileSync(join(folder, 'artifact'), artifact);
writeFileSync(
  join(folder, 'root.json'),
  JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [instance('https://rekor.mock', keys.log)],
    certificateAuthorities: [authority('https://fulcio.mock', ca.rootCertificate)],
    ctlogs: [instance('https://ctfe.mock', keys.ct)],
    timestampAuthorities: [authority('https://tsa.mock', tsa.intCertificate, tsa.rootCertificate)],
  }),
);
