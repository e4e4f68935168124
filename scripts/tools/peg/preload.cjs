/** Loaded into the process of the integration tests: shortens their waits, and gives them compilers from npm. */
const { readFileSync } = require('node:fs')
const Module = require('node:module')
const { join, relative } = require('node:path')
const { Readable } = require('node:stream')

const TESTS = join(process.cwd(), 'tests')
const TOOLS = join(__dirname, '../node_modules')
/** Waits of fewer milliseconds are left. */
const SHORTEST = 100

// Time limits of calls and tests are longer than any wait between two steps.
const LONGEST = 10_000
const divisor = Number(process.env.STAND_IN_WAITS)

for (const name of ['setTimeout', 'setInterval']) {
  const wait = globalThis[name]
  const isShortened = (milliseconds) => milliseconds >= SHORTEST && milliseconds <= LONGEST
  const shortened = (run, milliseconds, ...rest) =>
    wait(run, isShortened(milliseconds) ? milliseconds / divisor : milliseconds, ...rest)
  globalThis[name] = Object.assign(shortened, wait)
}

/** The file that defines each suite, since all are loaded by one. */
const { require: load } = Module.prototype
Module.prototype.require = function (name) {
  const file = name.startsWith('.') ? Module._resolveFilename(name, this) : ''
  if (!file.startsWith(TESTS)) return load.call(this, name)
  const { describe } = globalThis
  const named = (define) => (title, run) => {
    const suite = define(title, run)
    if (suite !== undefined) suite.file = relative(TESTS, file)
    return suite
  }
  globalThis.describe = Object.assign(named(describe), describe, { skip: named(describe.skip) })
  try {
    return load.call(this, name)
  } finally {
    globalThis.describe = describe
  }
}

const { https } = Module.createRequire(join(process.cwd(), 'package.json'))('follow-redirects')
const { get } = https
https.get = (url, answer) => {
  const [, version] =
    /^https:\/\/binaries\.soliditylang\.org\/bin\/soljson-v(\d+\.\d+\.\d+)\+/.exec(url) ?? []
  if (version === undefined) return get.call(https, url, answer)
  const body = Readable.from([readFileSync(join(TOOLS, `solc-${version}/soljson.js`))])
  answer(Object.assign(body, { statusCode: 200 }))
  return body
}
