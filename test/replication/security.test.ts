/** NATS behind TLS, passwords and credentials: nodes with the right ones form a cluster, all others get a sentence. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import type { NodeOptions } from '../../src/index.ts'
import { newCluster, rpc, type TestCluster, until } from '../support/cluster.ts'
import { runCommand } from '../support/command.ts'
import { natsOperator } from '../support/nats-operator.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url))
const TLS = `tls: { cert_file: "${fixture('first.cert.pem')}", key_file: "${fixture('first.key.pem')}" }\n`
const CA = fixture('first.cert.pem')
const OTHER_CA = fixture('second.cert.pem')

/** The subjects of the documentation for a cluster. */
function documentedSubjects(clusterName: string): string[] {
  const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
  const [sentence = ''] = /permission to publish and subscribe to[\s\S]*?\. Anyone/.exec(text) ?? []
  return [...sentence.matchAll(/`([^`]+)`/g)].map(([, subject]) =>
    String(subject).replaceAll('<name>', clusterName),
  )
}

describeWith(NATS_SERVER, 'a NATS server with access control', () => {
  let nats: NatsServer
  let cluster: TestCluster

  afterEach(async () => {
    await cluster.close()
    await nats.remove()
  })

  /** Why a node does not start. */
  const refusal = (options: NodeOptions): Promise<string> =>
    cluster.start(options).then(
      () => 'none',
      (error) => `${error.kind}: ${error.message}`,
    )

  /** A write through a follower, which a follower that starts with a snapshot reads as well. */
  async function requireWorking(options: NodeOptions): Promise<void> {
    const leader = await cluster.start({ ...options, role: 'leader', clusterLogBytes: 1 << 20 })
    const follower = await cluster.start({ ...options, role: 'follower' })
    const [from] = await rpc(follower, 'eth_accounts')
    const hash = await rpc(follower, 'eth_sendTransaction', { from, to: from })
    const code = `0x${'5b'.repeat(300_000)}`
    for (let n = 1; n <= 6; n++) {
      const address = `0x${n.toString(16).padStart(40, '7')}`
      // Refused while the log is full.
      const set = () =>
        rpc(leader, 'hardhat_setCode', address, code).then(
          () => true,
          () => false,
        )
      await until(set, 'room for code')
    }
    const late = await cluster.start({ ...options, role: 'follower' })
    expect(await rpc(late, 'eth_getTransactionReceipt', hash)).toMatchObject({ blockNumber: '0x1' })
    expect(await rpc(late, 'eth_getCode', `0x${'1'.padStart(40, '7')}`, 'latest')).toBe(code)
  }

  const status = (...flags: string[]) =>
    runCommand(['cluster', 'status', '--cluster-name', cluster.clusterName, '--json', ...flags])

  it('carries a cluster over TLS, and is refused with the certificate of another authority', async () => {
    nats = await natsServer(TLS)
    const url = nats.url.replace('nats:', 'tls:')
    cluster = newCluster(url)
    await requireWorking({ clusterCa: CA })
    for (const clusterCa of [undefined, OTHER_CA]) {
      expect(await refusal({ clusterCa })).toMatch(
        /^cluster: NATS at tls:\/\/127\.0\.0\.1:\d+ cannot be used: .*(certificate|signature).*\.$/,
      )
    }
    const shown = await status('--cluster', url, '--cluster-ca', CA)
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(shown.stdout).nodes).toHaveLength(3)
    expect(await status('--cluster', url)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^tandem: NATS at tls:.* cannot be used: .*certificate.*\.\n$/),
    })
  })

  it('without TLS is refused by a node that requires it', async () => {
    nats = await natsServer()
    cluster = newCluster(nats.url.replace('nats:', 'tls:'))
    expect(await refusal({ clusterCa: CA })).toMatch(
      /^cluster: NATS at tls:\/\/127\.0\.0\.1:\d+ cannot be used: .*tls.*\.$/,
    )
  })

  it('carries a cluster whose nodes have a password or a token, over TLS as well', async () => {
    nats = await natsServer(`${TLS}authorization: { user: "node", password: "p@ss:word" }\n`)
    const url = (login: string) => nats.url.replace('nats://', `tls://${login}`)
    cluster = newCluster(url('node:p%40ss%3Aword@'), { clusterCa: CA })
    await requireWorking({})
    for (const cluster of [url('node:other@'), url('')]) {
      const answer = await refusal({ cluster })
      expect(answer).toMatch(
        /^cluster: NATS at tls:\/\/127\.0\.0\.1:\d+ cannot be used: .*Authorization Violation.*\.$/,
      )
      expect(answer).not.toContain('other')
    }
    await cluster.close()
    await nats.remove()
    nats = await natsServer('authorization: { token: "s3cret" }\n')
    cluster = newCluster(nats.url.replace('nats://', 'nats://s3cret@'))
    await cluster.start()
    expect(await refusal({ cluster: nats.url })).toMatch(
      /^cluster: NATS at nats:\/\/127\.0\.0\.1:\d+ cannot be used: .*Authorization Violation.*\.$/,
    )
  })

  it('carries a cluster whose nodes have credentials with the documented rights, and no others', async () => {
    const operator = natsOperator()
    nats = await natsServer(operator.config)
    cluster = newCluster(nats.url)
    const subjects = documentedSubjects(cluster.clusterName)
    expect(subjects).toContain('$JS.API.>')
    const folder = temporaryFolder()
    const credentials = (name: string, text: string): string => {
      const file = join(folder, name)
      writeFileSync(file, text)
      return file
    }
    for (const index of subjects.keys()) {
      // A small cluster has no snapshots.
      if (subjects[index]?.startsWith('$O.')) continue
      const clusterName = `${cluster.clusterName}-${index}`
      const rights = documentedSubjects(clusterName).filter((_, i) => i !== index)
      const clusterCreds = credentials('lacking.creds', operator.credentials(rights))
      expect(await refusal({ clusterName, clusterCreds, role: 'leader' })).toMatch(
        /^cluster: NATS at \S+ cannot be used: Permissions Violation for \S+ to ".*"\.$/,
      )
    }
    const good = credentials('good.creds', operator.credentials(subjects))
    await requireWorking({ clusterCreds: good })
    const shown = await status('--cluster', nats.url, '--cluster-creds', good)
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(shown.stdout).nodes).toHaveLength(3)
    const foreign = credentials('foreign.creds', natsOperator().credentials(subjects))
    for (const clusterCreds of [undefined, foreign]) {
      expect(await refusal({ clusterCreds })).toMatch(
        /^cluster: NATS at nats:\/\/127\.0\.0\.1:\d+ cannot be used: .*Authorization Violation.*\.$/,
      )
    }
    expect(await refusal({ clusterCreds: join(folder, 'none.creds') })).toMatch(
      /^invalid-options: The file of option "clusterCreds" cannot be read: ENOENT/,
    )
    const garbage = credentials('garbage.creds', 'no credentials')
    expect(await refusal({ clusterCreds: garbage })).toMatch(
      /^cluster: NATS at nats:\/\/127\.0\.0\.1:\d+ cannot be used: unable to parse credentials\.$/,
    )
  })
})
