// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// The cheat codes that the tests and scripts use.
interface Vm {
    function addr(uint256 key) external returns (address);
    function deal(address account, uint256 balance) external;
    function envAddress(string calldata name) external returns (address);
    function envUint(string calldata name) external returns (uint256);
    function expectRevert(bytes calldata data) external;
    function prank(address sender) external;
    function rollFork(uint256 number) external;
    function startBroadcast(uint256 key) external;
    function stopBroadcast() external;
}

Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
