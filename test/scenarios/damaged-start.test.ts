/** Damages the database of a process that was killed, and starts it again. */
import { readdirSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCommand, startCommand } from '../support/command.ts'
import { rpc } from '../support/json-rpc.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('every start reports the damage, exits with 1 and prints nothing else', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const hashes: string[] = []
  for (let life = 0; life < 2; life++) {
    const node = await startCommand(['--data-dir', dataDir, '--mining', 'manual'])
    for (let i = 0; i < 3; i++) await rpc(node.url, 'evm_mine')
    const block: unknown = await rpc(node.url, 'eth_getBlockByNumber', ['latest', false] as never)
    hashes.push((block as { readonly hash: string }).hash)
    await node.end('SIGKILL')
  }
  const [third] = hashes
  const db = join(dataDir, 'db')
  const log = readdirSync(db).find((name) => name.endsWith('.log')) as string
  truncateSync(join(db, log), 10)
  const verify = `tandem verify --data-dir ${dataDir}`
  const commands = `"${verify}" names all that is wrong, and "${verify} --repair" goes back to the last whole block.`
  const refused = (problem: string) => ({
    code: 1,
    stdout: '',
    stderr: `tandem: The database in ${dataDir} is damaged: ${problem}. ${commands}\n`,
  })
  const start = () => runCommand(['start', '--port', '0', '--data-dir', dataDir])
  const lost = `LevelDB lacks the last of what was written until block 3 (${third}) was the head`
  expect(await start()).toEqual(refused(lost))
  expect(await start()).toEqual(refused(lost))
  const { code, stdout } = await runCommand(['verify', '--data-dir', dataDir])
  expect(code).toBe(1)
  expect(stdout).toContain(`data directory: ${lost}\n`)
  rmSync(join(db, 'CURRENT'))
  expect(await start()).toEqual(refused('db/CURRENT is missing'))
})
