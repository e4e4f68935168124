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

/** Milliseconds without a request after which what a test has sent is where it is to be. */
const QUIET = 5

/** Requests that are under way, and the time of the last one that began or ended. */
let requests = 0
let lastRequest = 0
for (const module of [require('node:http'), require('node:https')]) {
  const { request } = module
  module.request = (...args) => {
    const made = request.apply(module, args)
    requests++
    lastRequest = performance.now()
    made.once('close', () => {
      requests--
      lastRequest = performance.now()
    })
    return made
  }
}

/** Does it end a promise, and so a wait between two steps? Other timers ask again, a number of times, what is not ready. */
const isResolver = (run) => Function.prototype.toString.call(run).includes('[native code]')
const { setTimeout: later } = globalThis

/** Runs once the requests so far have ended, and those that follow from them; at the latest after some milliseconds. */
function whenQuiet(run, most) {
  const end = performance.now() + most
  const look = () => {
    const now = performance.now()
    const isQuiet = requests === 0 && now - lastRequest >= QUIET
    if (isQuiet || now >= end) run()
    else later(look, QUIET)
  }
  return later(look, QUIET)
}

for (const name of ['setTimeout', 'setInterval']) {
  const wait = globalThis[name]
  const isShortened = (milliseconds) => milliseconds >= SHORTEST && milliseconds <= LONGEST
  const shortened = (run, milliseconds, ...rest) => {
    if (!isShortened(milliseconds) || divisor === 1) return wait(run, milliseconds, ...rest)
    if (name === 'setTimeout' && isResolver(run)) return whenQuiet(run, milliseconds / divisor)
    return wait(run, milliseconds / divisor, ...rest)
  }
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
