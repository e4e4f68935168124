/** A node whose chain is reverted again and again: the state of a snapshot is there after each revert. */
import { setTimeout as pause } from 'node:timers/promises'
import type { BatchCaller } from './client.ts'
import type { Random } from './random.ts'
import { balanceOfCall, creationCode, transferData } from './token.ts'

/** The data that must be the same before and after. */
async function stateOf(http: BatchCaller, token: string, accounts: readonly string[]): Promise<string> {
  const [head, ...rest] = await Promise.all([
    http.call<{ hash: string; stateRoot: string }>('eth_getBlockByNumber', ['latest', false]),
    http.batch(
      'eth_getBalance',
      accounts.map((address) => [address, 'latest']),
    ),
    http.batch(
      'eth_getTransactionCount',
      accounts.map((address) => [address, 'pending']),
    ),
    http.batch(
      'eth_call',
      accounts.map((address) => [balanceOfCall(token, address), 'latest']),
    ),
  ])
  return JSON.stringify([head.hash, head.stateRoot, rest])
}

/** Takes snapshots, works, reverts and compares, as long as `running`. The node mines at once and signs itself. */
export async function turnBackOn(
  http: BatchCaller,
  random: Random,
  running: () => boolean,
  report: (words: string) => void,
): Promise<void> {
  const accounts = (await http.call<string[]>('eth_accounts')).slice(0, 4)
  const [maker] = accounts as [string]
  const send = (fields: object, kind: string) =>
    http.call<string>('eth_sendTransaction', [{ gas: '0x2dc6c0', ...fields }], kind)
  const created = await send({ from: maker, data: creationCode(10n ** 24n) }, 'setting up')
  const receipt = await http.call<{ contractAddress: string }>(
    'eth_getTransactionReceipt',
    [created],
    'setting up',
  )
  const token = receipt.contractAddress

  async function work(): Promise<void> {
    for (let left = random.whole(1, 5); left > 0; left--) {
      const [from, to] = [random.pick(accounts), random.pick(accounts)]
      const hash = random.chance(0.5)
        ? await send({ from, to, value: '0x5' }, 'transfer')
        : await send({ from: maker, to: token, data: transferData(to, 1n) }, 'token transfer')
      if (random.chance(0.2)) await http.call('debug_traceTransaction', [hash, { tracer: 'prestateTracer' }])
    }
  }

  /** Some returns lie within others. */
  async function thereAndBack(depth: number): Promise<void> {
    const before = await stateOf(http, token, accounts)
    const id = await http.call<string>('evm_snapshot')
    await work()
    if (depth < 3 && random.chance(0.4)) await thereAndBack(depth + 1)
    if (random.chance(0.3)) await work()
    if (!(await http.call<boolean>('evm_revert', [id]))) report(`the snapshot ${id} is not known`)
    if ((await stateOf(http, token, accounts)) !== before) report(`the return to ${id} led elsewhere`)
  }

  while (running()) {
    try {
      await thereAndBack(0)
      // Part of the work stays, so that the chain grows below the snapshots.
      if (random.chance(0.3)) await work()
    } catch (error) {
      report((error as Error).message)
    }
    await pause(random.whole(20, 120))
  }
}
