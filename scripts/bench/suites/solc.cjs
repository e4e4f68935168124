/** `node solc.cjs <soljson.js>` compiles the standard JSON input from stdin, and writes the output to stdout. */
const solc = require(process.argv[2])

/** The functions of a compiler since 0.5.11 take a pointer, and older ones a string. */
function run(text) {
  if (solc._solidity_alloc === undefined) {
    const name = solc._solidity_compile === undefined ? 'compileStandard' : 'solidity_compile'
    return solc.cwrap(name, 'string', ['string', 'number', 'number'])(text, 0, 0)
  }
  const size = Buffer.byteLength(text) + 1
  const at = solc._solidity_alloc(size)
  solc.stringToUTF8(text, at, size)
  return solc.UTF8ToString(solc._solidity_compile(at, 0, 0))
}

const chunks = []
process.stdin.on('data', (chunk) => chunks.push(chunk))
process.stdin.once('end', () => process.stdout.write(run(Buffer.concat(chunks).toString())))
