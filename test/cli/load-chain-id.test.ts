import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fillDumpCommand } from '../../src/cli/dump.ts'
import { fillLoadCommand } from '../../src/cli/load.ts'
import { createNode } from '../../src/index.ts'
import { runFilled } from '../support/commands.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const RICH = '0x00000000000000000000000000000000000ab1e5'

async function balanceIn(dataDir: string): Promise<unknown> {
  const node = await createNode({ dataDir, mining: 'manual' })
  const balance = await node.request({ method: 'eth_getBalance', params: [RICH, 'latest'] })
  await node.close()
  return balance
}

it('a state of another chain id is refused with the ids, and changes nothing unless it is forced', async () => {
  const folder = temporaryFolder()
  const [from, dataDir, state] = [join(folder, 'from'), join(folder, 'data'), join(folder, 'state.json')]
  const node = await createNode({ dataDir: from, chainId: 1337, mining: 'manual' })
  await node.request({ method: 'hardhat_setBalance', params: [RICH, '0x7'] })
  await node.close()
  expect((await runFilled(fillDumpCommand, [state, '--data-dir', from])).error).toBeUndefined()
  const genesis = join(folder, 'genesis.json')
  writeFileSync(genesis, JSON.stringify({ config: { chainId: 1337 }, alloc: { [RICH]: { balance: '0x7' } } }))
  expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({ chainId: 1337 })
  for (const file of [state, genesis]) {
    const missing = join(folder, 'missing')
    expect((await runFilled(fillLoadCommand, [file, '--data-dir', missing])).error).toBeDefined()
    expect(existsSync(missing)).toBe(false)
    await balanceIn(dataDir)
    const { error } = await runFilled(fillLoadCommand, [file, '--data-dir', dataDir])
    expect(error?.message).toBe(
      `${file}: The state file is of chain id 1337, not of this chain's (regtest, chain id 33); tandem load --force loads it all the same.`,
    )
    expect(await balanceIn(dataDir)).toBe('0x0')
    const own = `${dataDir}-${file === state}`
    expect((await runFilled(fillLoadCommand, [file, '--force', '--data-dir', own])).error).toBeUndefined()
    expect(await balanceIn(own)).toBe('0x7')
  }
  const { error } = await runFilled(fillLoadCommand, [state, '--force', '--url', 'http://127.0.0.1:1'])
  expect(error?.message).toBe('--force is for a data directory, not for --url.')
})
