// A ConfigMap is kept and handed to the nodes whose pods name it; by itself it does nothing.

import type {ConfigMap} from '../../api/kinds/configmap.js';
import {controller} from './objects/controller.js';

export const configMapController = controller<ConfigMap>({plural: 'configmaps', reconcile: () => ({effects: []})});
