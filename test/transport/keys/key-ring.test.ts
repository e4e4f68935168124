/** The keys of a file as they come and go. */
import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/logger.ts'
import { revokeKey } from '../../../src/transport/keys/key-changes.ts'
import { changeKeys } from '../../../src/transport/keys/key-file.ts'
import { KeyRing } from '../../../src/transport/keys/key-ring.ts'
import { keyFile } from '../../support/api-keys.ts'

it('a key that has ended calls a new listener at once, and earlier ones as it ends', async () => {
  const keys = keyFile()
  const key = await keys.add('ci')
  let onReload = () => {}
  const changed = new Promise<void>((resolve) => {
    onReload = resolve
  })
  const ring = new KeyRing(keys.file, { ...silentLogger, info: () => onReload() })
  const living = ring.find(`/${key}`)
  const ended: string[] = []
  living?.onEnd(() => ended.push('early'))
  expect(ended).toEqual([])
  await changeKeys(keys.file, (known) => revokeKey(known, 'ci', new Date()))
  await changed
  expect(ended).toEqual(['early'])
  living?.onEnd(() => ended.push('late'))
  expect(ended).toEqual(['early', 'late'])
  ring.close()
  keys.remove()
})
