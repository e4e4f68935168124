import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lineDiff } from '../../src/cli/init/line-diff.ts'
import { withMember } from '../../src/cli/init/manifest.ts'
import { fillInitCommand } from '../../src/cli/init.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'init-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
}

const text = (name: string) => readFileSync(join(dir, name), 'utf8')

/** Runs the command in this process; what it printed, without colours. */
async function init(...args: string[]): Promise<string> {
  const printed: string[] = []
  const writer = {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
    write: (line: string) => void printed.push(line.replace(/\x1b\[\d+m/g, '')),
    flush: async () => {},
    later: () => {},
  }
  const command = new Command('init')
  fillInitCommand(command, { output: writer, errors: writer })
  await command.parseAsync([dir, ...args], { from: 'user' })
  return printed.join('\n')
}

const MANIFEST = `{
  "name": "app",
  "devDependencies": {
    "hardhat": "^2.22.0",
    "zeta": "1.0.0"
  }
}
`

describe('init', () => {
  it('shows the difference, and writes nothing without a person or --yes', async () => {
    write({ 'package.json': MANIFEST, 'hardhat.config.js': "module.exports = { solidity: '0.8.24' }\n" })
    await expect(init()).rejects.toThrow(
      'Nothing was written: run the command again with --yes to write this.',
    )
    expect(text('package.json')).toBe(MANIFEST)
    expect(existsSync(join(dir, 'test'))).toBe(false)
  })

  it('adds the plugin to a project of Hardhat 2, once', async () => {
    write({
      'package.json': MANIFEST,
      'hardhat.config.js':
        "require('@nomicfoundation/hardhat-toolbox')\n\nmodule.exports = { solidity: '0.8.24' }\n",
      '.gitignore': 'node_modules\n',
    })
    const printed = await init('--yes')
    expect(printed).toContain("+ require('hardhat-tandem')")
    expect(printed).toContain('+     "hardhat-tandem": "^0.1.0",')
    expect(text('hardhat.config.js')).toBe(
      "require('@nomicfoundation/hardhat-toolbox')\nrequire('hardhat-tandem')\n\nmodule.exports = { solidity: '0.8.24' }\n",
    )
    expect(JSON.parse(text('package.json'))).toEqual({
      name: 'app',
      devDependencies: { hardhat: '^2.22.0', 'hardhat-tandem': '^0.1.0', tandem: '^0.1.0', zeta: '1.0.0' },
      scripts: { 'test:tandem': 'hardhat test --network tandem' },
    })
    expect(text('.gitignore')).toBe('node_modules\n.tandem/\n')
    expect(await init('--yes')).toBe('Nothing to change: this project of hardhat has Tandem already.')
  })

  it.each([
    [
      'import { defineConfig } from "hardhat/config";\n\nexport default defineConfig({\n  solidity: "0.8.28",\n});\n',
      'import { defineConfig } from "hardhat/config";\nimport { tandem } from "hardhat-tandem/3";\n\nexport default defineConfig({\n  plugins: [tandem],\n  solidity: "0.8.28",\n});\n',
    ],
    [
      'import toolbox from "x";\nexport default defineConfig({\n  plugins: [toolbox],\n});\n',
      'import toolbox from "x";\nimport { tandem } from "hardhat-tandem/3";\nexport default defineConfig({\n  plugins: [tandem, toolbox],\n});\n',
    ],
    [
      "import type { HardhatUserConfig } from 'hardhat/config'\nconst config: HardhatUserConfig = { plugins: [] }\nexport default config\n",
      "import type { HardhatUserConfig } from 'hardhat/config'\nimport { tandem } from 'hardhat-tandem/3'\nconst config: HardhatUserConfig = { plugins: [tandem] }\nexport default config\n",
    ],
    [
      "export default { solidity: '0.8.28' }\n",
      "import { tandem } from 'hardhat-tandem/3'\nexport default { plugins: [tandem], solidity: '0.8.28' }\n",
    ],
  ])('adds the plugin to a configuration of Hardhat 3: %j', async (before, after) => {
    write({ 'package.json': '{ "devDependencies": { "hardhat": "^3.0.0" } }\n', 'hardhat.config.ts': before })
    await init('--yes')
    expect(text('hardhat.config.ts')).toBe(after)
    expect(await init('--yes')).toContain('Nothing to change')
  })

  it('names what to add where the configuration has another form', async () => {
    const manifest = '{ "devDependencies": { "hardhat": "^3.0.0" } }\n'
    write({ 'package.json': manifest, 'hardhat.config.ts': 'export { config as default } from "./other"\n' })
    await expect(init('--yes')).rejects.toThrow(
      "import { tandem } from 'hardhat-tandem/3', and plugins: [tandem]",
    )
    expect(text('package.json')).toBe(manifest)
  })

  it.each([
    [
      '[profile.default]\nsrc = "src"\n',
      '[profile.default]\nsrc = "src"\n\n[rpc_endpoints]\ntandem = "http://127.0.0.1:8545"\n',
    ],
    [
      '[rpc_endpoints]\nmain = "x"\n\n[fmt]\n',
      '[rpc_endpoints]\ntandem = "http://127.0.0.1:8545"\nmain = "x"\n\n[fmt]\n',
    ],
  ])('names the node in foundry.toml: %j', async (before, after) => {
    write({ 'foundry.toml': before })
    const printed = await init('--yes')
    expect(text('foundry.toml')).toBe(after)
    expect(printed).toContain('npm install --save-dev tandem')
    expect(await init('--yes')).toContain('Nothing to change')
  })

  it('adds a test to a project of viem or ethers, and keeps what is there', async () => {
    write({
      'package.json':
        '{\n\t"scripts": {\n\t\t"test": "my-runner"\n\t},\n\t"dependencies": { "viem": "^2" },\n\t"devDependencies": { "vitest": "^4" }\n}\n',
    })
    await init('--yes')
    expect(JSON.parse(text('package.json'))).toMatchObject({
      scripts: { test: 'my-runner' },
      devDependencies: { tandem: '^0.1.0', vitest: '^4' },
    })
    expect(text('package.json')).toContain('\n\t"scripts"')
    expect(text('test/tandem.test.mjs')).toContain("from 'tandem/vitest'")
    write({ 'test/tandem.test.mjs': '// mine\n' })
    expect(await init('--yes')).toContain('Nothing to change')
    expect(text('test/tandem.test.mjs')).toBe('// mine\n')
  })

  it('refuses a folder without a known project', async () => {
    await expect(init('--yes')).rejects.toThrow('holds no project of a known kind')
    write({ 'package.json': 'no json', 'foundry.toml': '' })
    await expect(init('--yes')).rejects.toThrow('is not the manifest of a package')
  })
})

describe('differences', () => {
  it('show changed lines, and two around them', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n'
    expect(lineDiff(before, 'a\nb\nc\nX\nd\ne\nf\ng\nh\ni\n')).toEqual([
      '  b',
      '  c',
      '+ X',
      '  d',
      '  e',
      '  …',
      '  h',
      '  i',
      '- j',
    ])
    expect(lineDiff('', 'a\n')).toEqual(['+ a'])
    expect(lineDiff('a\n', 'a\n')).toEqual([])
  })

  it('of a manifest are the new lines', () => {
    expect(lineDiff(MANIFEST, withMember(MANIFEST, 'devDependencies', 'tandem', '1'))).toEqual([
      '    "devDependencies": {',
      '      "hardhat": "^2.22.0",',
      '+     "tandem": "1",',
      '      "zeta": "1.0.0"',
      '    }',
    ])
    const last = withMember(MANIFEST, 'devDependencies', 'zz', '1')
    expect(last).toContain('"zeta": "1.0.0",\n    "zz": "1"\n  }')
  })
})
