/** The plan that `--chaos` names: a profile, or a file. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withChaosFile } from '../../src/cli/chaos-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('passes on a profile, and reads a file', async () => {
  expect(await withChaosFile({ chaos: 'flaky-wifi' })).toEqual({ chaos: 'flaky-wifi' })
  const path = join(temporaryFolder(), 'plan.json')
  await writeFile(path, '{"limits": {"batch": 3}}')
  expect(await withChaosFile({ chaos: path, seed: '7' })).toEqual({
    chaos: { limits: { batch: 3 } },
    seed: '7',
  })
  await writeFile(path, '{"limits"')
  await expect(withChaosFile({ chaos: path })).rejects.toMatchObject({
    kind: 'invalid-options',
    message: expect.stringContaining(path),
  })
  await writeFile(path, '7')
  await expect(withChaosFile({ chaos: path })).rejects.toThrow('a plan is an object')
  await expect(withChaosFile({ chaos: 'sunny' })).rejects.toThrow(
    /neither a chaos profile nor a file "sunny".*rootstock-public/,
  )
})
