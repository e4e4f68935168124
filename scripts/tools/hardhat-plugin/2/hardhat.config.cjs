/** A Hardhat 2 project; `tandem init` adds the plugin to its copy. */
const { subtask } = require('hardhat/config')
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names')
require('@nomicfoundation/hardhat-chai-matchers')
require('@nomicfoundation/hardhat-ethers')

const longVersion = require('solc').version()
const version = longVersion.replace(/\+.*/, '')

// The compiler of npm, so that nothing is downloaded.
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD).setAction(async () => ({
  compilerPath: require.resolve('solc/soljson.js'),
  isSolcJs: true,
  version,
  longVersion,
}))

const { MOCHA_REPORT } = process.env

module.exports = {
  solidity: { version, settings: { evmVersion: 'cancun', optimizer: { enabled: true, runs: 200 } } },
  defaultNetwork: 'tandem',
  tandem: { chainId: 4242 },
  mocha: MOCHA_REPORT ? { reporter: 'json', reporterOptions: { output: MOCHA_REPORT } } : {},
}
