/** What is in files of certificates and their keys, before anybody relies on them. */
import { X509Certificate, createPrivateKey } from 'node:crypto';

const block = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** In their order; none where the text has none, or one that cannot be read. */
export function certificatesIn(text: string): readonly X509Certificate[] {
  try {
    return (text.match(block) ?? []).map((pem) => new X509Certificate(pem));
  } catch {
    return [];
  }
}

/** What is wrong with the texts of a server's certificate and of its key, if anything. */
export function certificateFault(cert: string, key: string): 'cert' | 'key' | 'pair' | undefined {
  const [own] = certificatesIn(cert);
  if (!own) return 'cert';
  try {
    return own.checkPrivateKey(createPrivateKey(key)) ? undefined : 'pair';
  } catch {
    return 'key';
  }
}
