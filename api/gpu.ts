// The one resource beside cpu and memory that a node may have and a container ask for: whole devices, each of one pod at a time.

/** As NVIDIA's device plugin for Kubernetes calls it. */
export const gpuResource = 'nvidia.com/gpu';
