#!/usr/bin/env node
/**
 * The JavaScript build of solc with the command line that Foundry uses: `--version`, and `--standard-json`. The name of
 * another installed compiler may follow.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const name = process.argv.slice(2).find((argument) => /^solc[\d.-]*$/.test(argument)) ?? 'solc'
const solc = createRequire(import.meta.url)(name)

if (process.argv.includes('--version')) {
  console.log('solc, the solidity compiler commandline interface')
  console.log(`Version: ${solc.version()}`)
} else if (process.argv.includes('--standard-json')) {
  process.stdout.write(solc.compile(readFileSync(0, 'utf8')))
} else {
  console.error(`not understood: ${process.argv.slice(2).join(' ')}`)
  process.exitCode = 1
}
