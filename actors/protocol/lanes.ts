// Which lane messages between systems take. What goes to or comes from a node's runtime (logs) is large and may wait; everything
// else is small and may not.

import {parseAddress, type Address} from '../../api/keys.js';
import type {Lane} from '../../system/links/link.js';
import {runtimePath} from '../addresses.js';

export const laneOf = (from: Address, to: Address): Lane => (isBulky(from) || isBulky(to) ? 'bulk' : 'control');

const isBulky = (address: Address): boolean => parseAddress(address)?.path === runtimePath;
