/** A key file for one test, and keys in it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKey } from '../../src/transport/keys/api-key.ts'
import { addKey, type NewKey } from '../../src/transport/keys/key-changes.ts'
import { changeKeys } from '../../src/transport/keys/key-file.ts'

/** Makes a directory with an empty key file. */
export function keyFile() {
  const dir = mkdtempSync(join(tmpdir(), 'api-keys-'))
  const file = join(dir, 'keys.json')
  return {
    dir,
    file,
    /** Adds a key and returns it. */
    async add(name: string, more: Partial<NewKey> = {}): Promise<string> {
      const key = generateKey()
      await changeKeys(file, (keys) =>
        addKey(keys, { name, allow: [], stateOverride: false, ...more }, key, new Date()),
      )
      return key
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** The result of `keyFile`. */
export type KeyFileOfTest = ReturnType<typeof keyFile>
