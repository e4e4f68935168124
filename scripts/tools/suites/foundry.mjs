/** `cast` and `forge` against `tandem anvil`; solc is its JavaScript build. */
import assert from 'node:assert/strict'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { HERE, installed, output, rpc, run, startTandemAnvil, TANDEM, withFolder } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'

const CAST = installed('@foundry-rs/cast-linux-amd64/bin/cast')
const FORGE = installed('@foundry-rs/forge-linux-amd64/bin/forge')
const PROJECT = join(HERE, 'foundry')
/** The first accounts of Anvil, as its documentation lists them. */
const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const FIRST = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const SECOND = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const ENV = { NO_COLOR: '1', FOUNDRY_DISABLE_NIGHTLY_WARNING: '1' }

/** Checks with a node of their own. */
async function against(run) {
  const { check, results } = createChecks()
  const node = await startTandemAnvil()
  try {
    await run(check, node)
  } finally {
    await node.stop()
  }
  return outcomeOf(results())
}

const forge = (args, env = {}) => output(FORGE, args, { cwd: PROJECT, env: { ...ENV, ...env } })

/** Creates a counter with `forge create`, for its address. */
async function createCounter(url, start) {
  const text = await forge([
    ...['create', '--rpc-url', url, '--private-key', KEY, '--broadcast', '--json'],
    ...['src/Counter.sol:Counter', '--constructor-args', start],
  ])
  return JSON.parse(text).deployedTo
}

/** The chain, payments and refusals. */
async function checkSending({ check, cast, send, counter, url }) {
  await check('chain-id, client, gas-price, block-number', async () => {
    assert.equal(await cast('chain-id'), '33')
    assert.match(await cast('client'), /^anvil\//)
    assert.equal(await cast('gas-price'), '2000000000')
    assert.equal(await cast('block-number'), '1')
  })
  await check('send pays', async () => {
    const before = BigInt(await cast('balance', SECOND))
    const receipt = await send(SECOND, '--value', '1ether')
    assert.equal(receipt.status, '0x1')
    assert.equal(BigInt(await cast('balance', SECOND)), before + 10n ** 18n)
  })
  await check('send --unlocked uses an account of the node', async () => {
    const text = await cast('send', '--json', '--unlocked', '--from', SECOND, FIRST, '--value', '1')
    assert.equal(JSON.parse(text).status, '0x1')
  })
  await check('send calls a contract, call reads it', async () => {
    await send(counter, 'increase(uint256)', '3')
    assert.equal(await cast('call', counter, 'value()(uint256)'), '8')
    assert.equal(BigInt(await cast('storage', counter, '0')), 8n)
  })
  await check('publish takes a typed transaction', async () => {
    const raw = await privateKeyToAccount(KEY).signTransaction({
      ...{ type: 'eip1559', chainId: 33, to: SECOND, nonce: Number(await cast('nonce', FIRST)) },
      ...{ gas: 21_000n, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n },
    })
    assert.equal(JSON.parse(await cast('publish', raw)).type, '0x2')
  })
  await check('call and estimate have the data of a custom error', async () => {
    const data = `${await output(CAST, ['sig', 'TooMuch(uint256)'])}${'65'.padStart(64, '0')}`
    for (const command of ['call', 'estimate']) {
      const { code, stderr } = await run(
        CAST,
        [command, '--rpc-url', url, counter, 'increase(uint256)', '101'],
        {
          env: ENV,
        },
      )
      assert.notEqual(code, 0)
      assert.match(stderr, /error code 3: execution reverted/)
      assert.ok(stderr.includes(`data: "${data}"`), stderr)
    }
  })
}

/** Receipts, code, replays, and transactions made elsewhere. */
async function checkReading({ check, cast, send, counter, url }) {
  await check('receipt, tx, block, logs', async () => {
    const { transactionHash, blockNumber } = await send(counter, 'increase(uint256)', '1')
    assert.equal(await cast('receipt', transactionHash, 'status'), 'true')
    assert.equal(await cast('tx', transactionHash, 'from'), FIRST)
    const block = JSON.parse(await cast('block', '--json', String(Number(blockNumber))))
    assert.deepEqual(block.transactions, [transactionHash])
    assert.match(await cast('block', 'latest'), /gasLimit +30000000/)
    const logs = JSON.parse(
      await cast('logs', '--json', '--address', counter, 'Increased(address indexed,uint256)'),
    )
    assert.equal(logs.length, 2)
  })
  await check('nonce, code, codesize, compute-address', async () => {
    const nonce = await cast('nonce', FIRST)
    assert.equal(BigInt(nonce), BigInt(await rpc(url, 'eth_getTransactionCount', FIRST, 'latest')))
    assert.equal((await cast('code', counter)).length, 2 + 2 * Number(await cast('codesize', counter)))
    assert.match(await cast('compute-address', FIRST), /0x[0-9a-fA-F]{40}/)
  })
  await check('rpc sends any method', async () => {
    await cast('rpc', 'anvil_setBalance', SECOND, '0x7')
    assert.equal(await cast('balance', SECOND), '7')
    assert.match(await cast('rpc', 'evm_snapshot'), /"0x/)
  })
  await check('run replays a transaction', async () => {
    const { transactionHash } = await send(counter, 'increase(uint256)', '1', '--gas-limit', '200000')
    const text = await cast('run', '--quick', transactionHash)
    assert.match(text, /Transaction successfully executed/)
  })
  await check('publish sends signed bytes, mktx makes them', async () => {
    const raw = await cast('mktx', '--private-key', KEY, SECOND, '--value', '2')
    assert.equal(JSON.parse(await cast('publish', raw)).status, '0x1')
  })
}

export const cast = () =>
  against(async (check, { url }) => {
    const cast = (...args) => output(CAST, [...args, '--rpc-url', url], { env: ENV })
    const send = async (...args) => JSON.parse(await cast('send', '--json', '--private-key', KEY, ...args))
    const counter = await createCounter(url, '5')

    const scene = { check, cast, send, counter, url }
    await checkSending(scene)
    await checkReading(scene)
  })

/** A project that names the node after `tandem init`. */
async function checkInit(check) {
  await check('tandem init names the node', () =>
    withFolder(async (folder) => {
      copyFileSync(join(PROJECT, 'foundry.toml'), join(folder, 'foundry.toml'))
      await output(process.execPath, [TANDEM, 'init', '--yes', folder])
      const beside = ['exec', '--preset', 'anvil', '--port', '8545', '--']
      const asked = [CAST, 'chain-id', '--rpc-url', 'tandem']
      const id = await output(process.execPath, [TANDEM, ...beside, ...asked], { cwd: folder, env: ENV })
      assert.equal(id, '33')
    }),
  )
}

export const forgeFork = () =>
  against(async (check, { url }) => {
    await checkInit(check)
    const counter = await createCounter(url, '4')
    const created = Number(await rpc(url, 'eth_blockNumber'))
    await output(CAST, ['send', '--rpc-url', url, '--private-key', KEY, counter, 'increase(uint256)', '1'], {
      env: ENV,
    })
    const text = await forge(['test', '--fork-url', url, '--json'], {
      COUNTER: counter,
      KEY,
      HEAD: String(created + 1),
      CREATED_IN: String(created),
    }).catch((error) => error.message)
    const start = text.indexOf('{"')
    if (start === -1) throw new Error(text)
    const [suite] = Object.values(JSON.parse(text.slice(start, text.lastIndexOf('}') + 1)))
    for (const [name, { status, reason }] of Object.entries(suite.test_results)) {
      await check(name, () => assert.equal(status, 'Success', reason))
    }
  })

export const forgeBroadcast = () =>
  against(async (check, { url }) => {
    await check('forge create', async () => {
      const counter = await createCounter(url, '9')
      assert.equal(BigInt(await rpc(url, 'eth_call', { to: counter, data: '0x3fa4f245' }, 'latest')), 9n)
    })
    for (const slow of [[], ['--slow']]) {
      await check(['forge script --broadcast', ...slow].join(' '), async () => {
        const before = Number(await rpc(url, 'eth_blockNumber'))
        await rpc(url, 'evm_snapshot')
        const text = await forge(
          [
            ...['script', 'script/Deploy.s.sol:Deploy', '--rpc-url', url, '--broadcast', ...slow],
            ...['--gas-estimate-multiplier', '300'],
          ],
          { KEY },
        )
        assert.match(text, /ONCHAIN EXECUTION COMPLETE & SUCCESSFUL/)
        const { receipts } = JSON.parse(
          readFileSync(
            join(HERE, '../../.build/tools/foundry/broadcast/Deploy.s.sol/33/run-latest.json'),
            'utf8',
          ),
        )
        assert.deepEqual(
          receipts.map(({ status }) => status),
          ['0x1', '0x1', '0x1'],
        )
        assert.equal(Number(await rpc(url, 'eth_blockNumber')), before + 3)
        const { contractAddress } = receipts[0]
        assert.equal(
          BigInt(await rpc(url, 'eth_call', { to: contractAddress, data: '0x3fa4f245' }, 'latest')),
          42n,
        )
        await rpc(url, 'anvil_reset')
      })
    }
  })
