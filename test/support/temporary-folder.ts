/** A folder for one test, removed when the test ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Makes the folder; to be called within a test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
