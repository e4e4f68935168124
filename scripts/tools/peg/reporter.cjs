/** The reporter `spec`, and the results by file for `main.mjs`. */
const { writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')

const { reporters } = createRequire(join(process.cwd(), 'package.json'))('mocha')

function fileOf(suite) {
  return suite.file !== undefined && !suite.root
    ? suite.parent?.root
      ? suite.file
      : fileOf(suite.parent)
    : 'hooks'
}

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const files = new Map()
    const of = (test) => {
      const file = fileOf(test.parent)
      const found = files.get(file) ?? {
        file,
        passed: 0,
        failed: 0,
        skipped: 0,
        began: Date.now(),
        seconds: 0,
      }
      files.set(file, found)
      found.seconds = (Date.now() - found.began) / 1000
      return found
    }
    runner.on('suite', (suite) => suite.parent?.root && of({ parent: suite }))
    runner.on('suite end', (suite) => suite.parent?.root && of({ parent: suite }))
    runner.on('pass', (test) => of(test).passed++)
    runner.on('fail', (test) => of(test).failed++)
    runner.on('pending', (test) => of(test).skipped++)
    runner.on('end', () => writeFileSync(process.env.STAND_IN_RESULTS, JSON.stringify([...files.values()])))
  }
}
