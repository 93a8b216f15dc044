// Which lane messages between systems take. What goes to or comes from a node's runtime (logs), what measures it, a system's inspector or relay is
// large and may wait, as may what goes to or comes from a user's system; everything else is small and may not.

import {parseAddress, type Address} from '../../api/keys.js';
import {parseUserSystem} from '../../api/user-system.js';
import type {Lane} from '../../system/links/link.js';
import {inspectorPath, relayPath, runtimePath, usagePath} from '../addresses.js';

export const laneOf = (from: Address, to: Address): Lane => (isBulky(from) || isBulky(to) ? 'bulk' : 'control');

const bulky: ReadonlySet<string> = new Set([runtimePath, usagePath, inspectorPath, relayPath]);

function isBulky(address: Address): boolean {
	const {system = '', path = ''} = parseAddress(address) ?? {};
	return bulky.has(path) || parseUserSystem(system) !== undefined;
}
