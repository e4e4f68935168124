/** Loaded into the process of the integration tests: shortens their waits, and gives them compilers from npm. */
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
const QUIET = 2

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

/** Does it end a promise, and so a wait between two steps? Other timeouts ask again, a number of times, what is not ready. */
const isResolver = (run) => Function.prototype.toString.call(run).includes('[native code]')
const isShortened = (milliseconds) => milliseconds >= SHORTEST && milliseconds <= LONGEST && divisor !== 1
const timers = { setTimeout, setInterval }

/** Runs when no request has been under way for a while, at the latest after some milliseconds; again and again, or once. */
function whenQuiet(run, most, repeats) {
  let end = performance.now() + most
  const timer = timers.setInterval(() => {
    const now = performance.now()
    const isQuiet = requests === 0 && now - lastRequest >= QUIET
    if (!isQuiet && now < end) return
    end = now + most
    if (!repeats) clearInterval(timer)
    run()
  }, QUIET)
  return timer
}

globalThis.setTimeout = Object.assign((run, milliseconds, ...rest) => {
  if (!isShortened(milliseconds)) return timers.setTimeout(run, milliseconds, ...rest)
  if (isResolver(run)) return whenQuiet(run, milliseconds / divisor, false)
  return timers.setTimeout(run, milliseconds / divisor, ...rest)
}, setTimeout)

// What web3 asks again and again is whether a transaction is mined.
globalThis.setInterval = (run, milliseconds, ...rest) =>
  isShortened(milliseconds)
    ? whenQuiet(() => run(...rest), milliseconds / divisor, true)
    : timers.setInterval(run, milliseconds, ...rest)

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
  // The tests load a compiler for each contract: a module that is loaded once starts once.
  const path = join(TOOLS, `solc-${version}/soljson.js`)
  const body = Readable.from([`module.exports = require(${JSON.stringify(path)})`])
  answer(Object.assign(body, { statusCode: 200 }))
  return body
}
