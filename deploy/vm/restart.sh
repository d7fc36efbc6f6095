# Restarts both replicas, one after the other: sh /opt/device-trust/deploy/vm/restart.sh
# Instance 3 first tries the version and the configuration without a request, because nginx does not know it. If an instance ends,
# or is not ready within a minute, its log says why, the replicas after it stay as they are, and the exit code is 1.
trap 'systemctl stop device-trust@3' EXIT
for instance in 3 1 2; do
  seconds=60
  systemctl restart "device-trust@$instance" || seconds=0
  until curl -sf --noproxy '*' -o /dev/null "http://127.0.0.1:946$instance/readyz"; do
    if [ "$seconds" -gt 0 ] && systemctl -q is-active "device-trust@$instance"; then
      seconds=$((seconds - 1))
      sleep 1
      continue
    fi
    journalctl --no-pager -n 20 -u "device-trust@$instance" >&2
    echo "device-trust@$instance is not ready. Correct the mistake in its log, or restore what you changed, and run this again." >&2
    exit 1
  done
done
