/**
 * Draws docs/images/terminal.svg: starts the built command, deploys a contract, makes a call fail, and renders what the
 * terminal shows. Hashes and addresses are shortened to `0x1234…abcd`, which is the only change to the captured text.
 *
 *     npm run build && node scripts/terminal-picture.mjs
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Interface } from 'ethers'

const ROOT = new URL('../', import.meta.url)
const path = (name) => fileURLToPath(new URL(name, ROOT))

/** SGR codes of a foreground colour → fill. */
const COLOURS = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#56d4dd',
}
const PLAIN = '#c9d1d9'
const DIM = '#7d8590'
const BACKGROUND = '#0d1117'
/** Pixels. */
const [FONT, LINE, CHARACTER, MARGIN] = [14, 20, 8.43, 20]

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Text with SGR codes → runs of one style. */
function runsOf(line) {
  const runs = []
  let style = { fill: PLAIN, bold: false }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  for (const part of line.split(/(\x1b\[[\d;]*m)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
    const codes = /^\x1b\[([\d;]*)m$/.exec(part)?.[1]?.split(';').map(Number)
    if (codes === undefined) {
      if (part !== '') runs.push({ ...style, text: part })
      continue
    }
    for (const code of codes) {
      if (code === 0) style = { fill: PLAIN, bold: false }
      else if (code === 1) style = { ...style, bold: true }
      else if (code === 2) style = { ...style, fill: DIM }
      else if (code === 22) style = { fill: style.fill === DIM ? PLAIN : style.fill, bold: false }
      else if (code === 39) style = { ...style, fill: PLAIN }
      else style = { ...style, fill: COLOURS[code] ?? style.fill }
    }
  }
  return runs
}

function svgOf(lines) {
  const drawn = lines.map(runsOf)
  const columns = Math.max(...drawn.map((runs) => runs.reduce((sum, { text }) => sum + text.length, 0)))
  const [width, height] = [Math.ceil(columns * CHARACTER) + 2 * MARGIN, lines.length * LINE + 2 * MARGIN]
  const rows = drawn.map((runs, row) => {
    let column = 0
    const spans = runs.map(({ text, fill, bold }) => {
      const x = (MARGIN + column * CHARACTER).toFixed(1)
      column += text.length
      return `<tspan x="${x}" fill="${fill}"${bold ? ' font-weight="bold"' : ''}>${escaped(text)}</tspan>`
    })
    return `<text y="${MARGIN + FONT + row * LINE}" xml:space="preserve">${spans.join('')}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>The output of tandem start: accounts, a deployed contract, and the calls of a transaction that failed</title>',
    `<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT}">`,
    ...rows,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

const shortened = (text) =>
  text
    .replace(/0x([0-9a-f]{4})[0-9a-f]{56}([0-9a-f]{4})/g, '0x$1…$2')
    .replace(/0x([0-9a-f]{4})[0-9a-f]{32}([0-9a-f]{4})\b/g, '0x$1…$2')

const args = ['start', '--memory', '--port', '0', '--accounts', '2', '--abi', path('fixtures/contracts')]
const env = { ...process.env, FORCE_COLOR: '1', NO_COLOR: undefined }
const child = spawn(process.execPath, [path('dist/cli/main.js'), ...args], { env })
let printed = ''
const urlPrinted = new Promise((resolve, reject) => {
  child.stdout.on('data', (chunk) => {
    printed += chunk
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
    const url = /Ready on (\S+)/.exec(printed.replace(/\x1b\[\d+m/g, ''))?.[1]
    if (url !== undefined) resolve(url)
  })
  child.once('close', () => reject(new Error(`tandem start ended: ${printed}`)))
})
const url = await urlPrinted

let id = 0
async function call(method, ...params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  return response.json()
}

const shop = JSON.parse(readFileSync(path('fixtures/contracts/Shop.json'), 'utf8'))
const coder = new Interface(shop.abi)
const { result: accounts } = await call('eth_accounts')
const [from] = accounts
const deployed = await call('eth_sendTransaction', { from, data: shop.bytecode, gas: '0x100000' })
const { result: receipt } = await call('eth_getTransactionReceipt', deployed.result)
const buy = (count) => ({
  from,
  to: receipt.contractAddress,
  data: coder.encodeFunctionData('buy', [7, count]),
  value: '0x16345785d8a0000',
  gas: '0x30d40',
})
await call('eth_sendTransaction', buy(2))
await call('eth_sendTransaction', buy(2))
child.kill('SIGTERM')
await once(child, 'close')

const lines = shortened(printed)
  .replaceAll(url, 'http://127.0.0.1:4444')
  .replaceAll(url.replace('http', 'ws'), 'ws://127.0.0.1:4444')
  .trimEnd()
  .split('\n')
writeFileSync(
  new URL('docs/images/terminal.svg', ROOT),
  svgOf(['$ tandem start --memory --accounts 2 --abi ./out', ...lines]),
)
