/**
 * A Hardhat 2 project required with this module compiles offline: the compilers are packages of npm, in a folder given by
 * `NPM_COMPILERS`, each under the name `solc-<version>` (`npm install solc-0.8.24@npm:solc@0.8.24`). Sources are handed
 * over on the heap: `ccall` puts them on the stack of 5 MB, four bytes for each character, which large projects exceed.
 */
const { spawn } = require('node:child_process')
const { join } = require('node:path')
// The project's own Hardhat, wherever this file is.
const { subtask } = require(require.resolve('hardhat/config', { paths: [process.cwd()] }))

/** Files whose code one process generates: two of them run at a time. */
const PART = 150

/** Runs a compiler in a process of its own. */
async function compile(solcJsPath, input) {
  const child = spawn(process.execPath, [join(__dirname, 'solc.cjs'), solcJsPath], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const chunks = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.stdin.end(JSON.stringify(input))
  const code = await new Promise((settle) => child.once('close', settle))
  if (code !== 0) throw new Error(`the compiler ended with ${code}`)
  return JSON.parse(Buffer.concat(chunks).toString())
}

subtask('compile:solidity:solc:get-build', ({ solcVersion }) => {
  const folder = join(process.env.NPM_COMPILERS, 'node_modules', `solc-${solcVersion}`)
  const { version } = require(join(folder, 'package.json'))
  if (version !== solcVersion) throw new Error(`${folder} is ${version}`)
  return Promise.resolve({
    compilerPath: join(folder, 'soljson.js'),
    isSolcJs: true,
    version,
    longVersion: version,
  })
})

subtask('compile:solidity:solcjs:run', async ({ input, solcJsPath }) => {
  const files = Object.keys(input.sources)
  const wanted = input.settings.outputSelection['*']
  const parts = Array.from({ length: Math.ceil(files.length / PART) }, (_, at) =>
    files.slice(at * PART, (at + 1) * PART),
  )
  const output = { contracts: {}, sources: {}, errors: new Map() }
  async function compileParts() {
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      const outputSelection = Object.fromEntries(part.map((file) => [file, wanted]))
      const settings = { ...input.settings, outputSelection }
      const { contracts, sources, errors } = await compile(solcJsPath, { ...input, settings })
      Object.assign(output.contracts, contracts)
      for (const [file, source] of Object.entries(sources ?? {})) {
        if (part.includes(file)) output.sources[file] = source
        else output.sources[file] ??= source
      }
      for (const error of errors ?? []) output.errors.set(error.formattedMessage, error)
    }
  }
  await Promise.all([compileParts(), compileParts()])
  return { ...output, errors: [...output.errors.values()] }
})
