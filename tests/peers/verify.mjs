// Judge bundles with @sigstore/verify: a JSON list of questions on standard input, answers on
// standard output. A question names files: bundle, root, artifact, and key (PEM) or identity and
// issuer. An identity is a pattern to that library; it is given one that matches it alone.
import { readFileSync } from 'node:fs';
import { createPublicKey } from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';

function exactly(text) {
  return `^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
}

function judge(question) {
  const root = TrustedRoot.fromJSON(JSON.parse(readFileSync(question.root, 'utf8')));
  const bundle = bundleFromJSON(JSON.parse(readFileSync(question.bundle, 'utf8')));
  const artifact = readFileSync(question.artifact);
  const entity = toSignedEntity(bundle, artifact);
  if (question.key) {
    if (bundle.verificationMaterial.content.$case !== 'publicKey') {
      throw new Error('not signed by a key');
    }
    const key = createPublicKey(readFileSync(question.key));
    const material = toTrustMaterial(root, () => ({ publicKey: key, validFor: () => true }));
    new Verifier(material, { ctlogThreshold: 0 }).verify(entity);
    return;
  }
  new Verifier(toTrustMaterial(root)).verify(entity, {
    subjectAlternativeName: exactly(question.identity),
    extensions: { issuer: question.issuer },
  });
}

const questions = JSON.parse(readFileSync(0, 'utf8'));
const answers = questions.map((question) => {
  try {
    judge(question);
    return { accepted: true };
  } catch (error) {
    return { accepted: false, why: `${error.code ?? error.name}: ${error.message}`.slice(0, 200) };
  }
});
process.stdout.write(JSON.stringify(answers));
