// How long a silent node, and with it its pods, has: what the ClusterConfig says at the moment.

import {graceMsOf, type ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import type {Known} from '../../../system/index/object-index.js';
import {clusterConfigKey} from '../../addresses.js';

export const nodeGraceMs = (known: Known): number => graceMsOf(known.get(clusterConfigKey) as ClusterConfig | undefined);
