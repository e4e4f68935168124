/** A Hardhat 2 project that verifies on the node of `NODE_URL` by one `PROVIDER`. */
const { subtask } = require('hardhat/config')
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names')
require('@nomicfoundation/hardhat-verify')

const longVersion = require('solc').version()
const version = longVersion.replace(/\+.*/, '')

// The compiler of npm, so that nothing is downloaded.
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD).setAction(async () => ({
  compilerPath: require.resolve('solc/soljson.js'),
  isSolcJs: true,
  version,
  longVersion,
}))

const { NODE_URL: url = 'http://127.0.0.1:4444', PROVIDER: provider } = process.env
const customChains = [{ network: 'tandem', chainId: 33, urls: { apiURL: `${url}/api`, browserURL: url } }]

module.exports = {
  solidity: { version, settings: { evmVersion: 'cancun', optimizer: { enabled: true, runs: 200 } } },
  networks: { tandem: { url } },
  etherscan: { enabled: provider === 'etherscan', apiKey: { tandem: 'any' }, customChains },
  blockscout: { enabled: provider === 'blockscout', customChains },
  sourcify: { enabled: provider === 'sourcify', apiUrl: `${url}/server`, browserUrl: url },
}
