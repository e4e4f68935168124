/** prool starts `tandem-anvil` as it starts Anvil: alone, in a pool, and behind its server. */
import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { Instance, Pool, Server } from 'prool'
import { rpc, TANDEM_ANVIL } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'

// prool needs it, and Node.js has it from release 22.
Promise.withResolvers ??= function withResolvers() {
  const parts = {}
  parts.promise = new this((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}

const options = (more = {}) => ({ binary: TANDEM_ANVIL, ...more })

export async function prool() {
  // As npm does with the programs of a package.
  chmodSync(TANDEM_ANVIL, 0o755)
  const { check, results } = createChecks()
  await check('starts an instance by its options, and stops it', async () => {
    const instance = Instance.anvil(
      options({
        port: 18_545,
        chainId: 31_337,
        accounts: 3,
        gasLimit: 12_000_000n,
        noMining: true,
        timestamp: 1_700_000_000,
      }),
    )
    const stop = await instance.start()
    const url = `http://${instance.host}:${instance.port}`
    try {
      assert.equal(instance.status, 'started')
      assert.equal(await rpc(url, 'eth_chainId'), '0x7a69')
      assert.equal((await rpc(url, 'eth_accounts')).length, 3)
      assert.equal(await rpc(url, 'anvil_getAutomine'), false)
      assert.equal((await rpc(url, 'eth_getBlockByNumber', 'latest', false)).gasLimit, '0xb71b00')
    } finally {
      await stop()
    }
    assert.equal(instance.status, 'stopped')
    await assert.rejects(rpc(url, 'eth_chainId'))
  })
  await check('restarts an instance', async () => {
    const instance = Instance.anvil(options({ port: 18_546 }))
    await instance.start()
    const url = `http://${instance.host}:${instance.port}`
    try {
      await rpc(url, 'anvil_mine', '0x5')
      await instance.restart()
      assert.equal(await rpc(url, 'eth_blockNumber'), '0x0')
    } finally {
      await instance.stop()
    }
  })
  await check('reports a flag that does not exist', async () => {
    const instance = Instance.anvil(options({ port: 18_547, prot: 1 }))
    await assert.rejects(instance.start(), /unknown option '--prot'/)
  })
  await check('starts a pool, each with a chain of its own', async () => {
    const pool = Pool.define({ instance: Instance.anvil(options()), limit: 3 })
    try {
      const instances = [await pool.start(1), await pool.start(2)]
      const urls = instances.map(({ port }) => `http://localhost:${port}`)
      await rpc(urls[0], 'anvil_mine', '0x2')
      assert.deepEqual(await Promise.all(urls.map((url) => rpc(url, 'eth_blockNumber'))), ['0x2', '0x0'])
    } finally {
      await pool.destroyAll()
    }
  })
  await check('serves a node per path', async () => {
    const server = Server.create({ instance: Instance.anvil(options()), port: 18_548, host: '127.0.0.1' })
    const stop = await server.start()
    try {
      const url = (id) => `http://127.0.0.1:18548/${id}`
      await rpc(url(1), 'anvil_mine', '0x3')
      assert.equal(await rpc(url(1), 'eth_blockNumber'), '0x3')
      assert.equal(await rpc(url(2), 'eth_blockNumber'), '0x0')
      await fetch(`${url(1)}/restart`)
      assert.equal(await rpc(url(1), 'eth_blockNumber'), '0x0')
      const messages = await (await fetch(`${url(2)}/messages`)).json()
      assert.match(messages.join(''), /Listening on/)
    } finally {
      await (stop ?? server.stop).call(server)
    }
  })
  return outcomeOf(results())
}
