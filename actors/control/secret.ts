// A Secret is kept sealed; nodes whose pods name it hear of its versions and fetch it. By itself it does nothing.

import type {Secret} from '../../api/kinds/secret.js';
import {controller} from './objects/controller.js';

export const secretController = controller<Secret>({plural: 'secrets', reconcile: () => ({effects: []})});
