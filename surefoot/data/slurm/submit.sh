#!/bin/bash
# Start the cluster and the run on it: bash @folder@/submit.sh
set -euo pipefail
rm -f @folder@/scheduler.json
if [ ! -s @folder@/key.pem ]; then  # one key for all three roles, which nobody else may read
    (umask 077 && openssl req -x509 -newkey rsa:3072 -nodes -days 365 -subj /CN=surefoot \
        -keyout @folder@/key.pem -out @folder@/certificate.pem)
fi
SCHEDULER=$(sbatch --parsable @folder@/scheduler.sbatch)
WORKERS=$(sbatch --parsable --dependency="after:$SCHEDULER" @folder@/workers.sbatch)
export SCHEDULER WORKERS
sbatch --export=ALL --dependency="after:${WORKERS}_1" @folder@/driver.sbatch
