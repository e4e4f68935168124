/** An operator of NATS with one account: its server's configuration, and credentials of users (JWTs signed by NKeys). */
import { randomUUID } from 'node:crypto'
import { nkeys } from '@nats-io/transport-node'

/** Unlimited: NATS takes an absent limit for 0. */
const LIMITS = { subs: -1, data: -1, payload: -1 }
const ACCOUNT_LIMITS = { ...LIMITS, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
const JETSTREAM_LIMITS = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }

type KeyPair = ReturnType<typeof nkeys.createUser>

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64url')

/** A JWT about a key, as `nats-server` 2 reads it. */
function signClaims(issuer: KeyPair, subject: KeyPair, claims: object): string {
  const payload = {
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    nats: { ...claims, version: 2 },
  }
  const signed = [{ typ: 'JWT', alg: 'ed25519-nkey' }, payload]
    .map((part) => base64(JSON.stringify(part)))
    .join('.')
  return `${signed}.${base64(issuer.sign(Buffer.from(signed)))}`
}

/** Makes the keys. */
export function natsOperator() {
  const [operator, system, account] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()]
  const accountJwt = (of: KeyPair, limits: object) =>
    `${of.getPublicKey()}: ${signClaims(operator, of, { type: 'account', limits })}`
  return {
    /** Of a server that knows the account. */
    config: `operator: ${signClaims(operator, operator, { type: 'operator' })}
resolver: MEMORY
system_account: ${system.getPublicKey()}
resolver_preload: {
  ${accountJwt(system, ACCOUNT_LIMITS)}
  ${accountJwt(account, { ...ACCOUNT_LIMITS, ...JETSTREAM_LIMITS })}
}
`,
    /** The text of a file of credentials for a user that may publish and subscribe to these subjects. */
    credentials(subjects: readonly string[]): string {
      const user = nkeys.createUser()
      const rights = { allow: subjects }
      const jwt = signClaims(account, user, { type: 'user', ...LIMITS, pub: rights, sub: rights })
      return `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${Buffer.from(user.getSeed()).toString()}
------END USER NKEY SEED------
`
    },
  }
}
