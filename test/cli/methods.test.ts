/** The table of methods on a terminal. */
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { fillMethodsCommand } from '../../src/cli/methods.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { saying } from '../support/refusals.ts'

async function run(...args: string[]): Promise<string[]> {
  const lines: string[] = []
  const writer = { write: (line: string) => void lines.push(line), flush: async () => {} }
  const program = new Command().exitOverride()
  fillMethodsCommand(program.command('methods'), { output: writer, errors: writer })
  await program.parseAsync(['methods', ...args], { from: 'user' })
  return lines
}

describe('tandem methods', () => {
  it('lists every method with its parameters and what it does', async () => {
    const lines = await run()
    expect(lines).toHaveLength(METHODS.reduce((count, { aliases }) => count + 1 + aliases.length, 0))
    expect(lines.find((line) => line.startsWith('eth_getBalance '))).toMatch(/ {2}address, block\? +\S.*\.$/)
    expect(lines.find((line) => line.startsWith('rsk_protocolVersion'))).toMatch(
      /Alias of ext_protocolVersion\.$/,
    )
  })

  it('lists selected methods, also as JSON', async () => {
    expect((await run('txpool', 'net_version')).map((line) => line.split(' ')[0])).toEqual([
      'net_version',
      'txpool_content',
      'txpool_inspect',
      'txpool_status',
      'txpool_contentFrom',
    ])
    const [json = ''] = await run('--json', 'eth_getBalance')
    expect(JSON.parse(json)).toEqual([
      { names: ['eth_getBalance'], params: ['address', 'block?'], summary: expect.stringMatching(/\.$/) },
    ])
  })

  it('refuses unknown methods', async () => {
    await expect(run('shh')).rejects.toThrow(saying('There is no method or namespace "shh".'))
  })
})
