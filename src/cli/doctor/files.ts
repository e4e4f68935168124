/** Checks of the files that the settings name: API keys, certificates. */
import { stat } from 'node:fs/promises'
import { messageOf } from '../../errors.ts'
import { silentLogger } from '../../logger.ts'
import { openCertificate } from '../../transport/certificate.ts'
import { readKeys } from '../../transport/keys/key-file.ts'
import { type Finding, inOrder } from './finding.ts'

/** The bits of a file's mode that let users other than its owner do something with it. */
const OTHERS = 0o077

/** `inOrder`, or a warning where others of this machine may use a file that holds a secret. Throws when it is not there. */
async function ofSecretFile(check: string, file: string, found: string): Promise<Finding> {
  const { mode } = await stat(file)
  if (process.platform === 'win32' || (mode & OTHERS) === 0) return inOrder(check, found)
  return {
    check,
    verdict: 'warning',
    found: `Other users of this machine may use ${file}.`,
    advice: `Keep it to its owner: chmod 600 ${file}`,
  }
}

/** Can the file of API keys be read, and by nobody else? */
export async function checkKeyFile(file: string): Promise<Finding> {
  const check = 'API keys'
  try {
    const { length } = readKeys(file)
    return await ofSecretFile(check, file, `${file} holds ${length} of them.`)
  } catch (error) {
    return { check, verdict: 'problem', found: messageOf(error) }
  }
}

/** Do certificate and key belong together, and is the key nobody else's to read? */
export async function checkCertificate(certFile: string, keyFile: string): Promise<Finding> {
  const check = 'certificate'
  try {
    openCertificate(certFile, keyFile, silentLogger).close()
    return await ofSecretFile(check, keyFile, `${certFile} and ${keyFile} belong together.`)
  } catch (error) {
    return { check, verdict: 'problem', found: messageOf(error) }
  }
}
