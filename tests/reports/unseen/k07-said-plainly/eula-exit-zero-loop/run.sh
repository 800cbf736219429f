# image bb:1 = a busybox tree
# the Minecraft server ends with exit code 0 and its last word is at level INFO
docker run -d --name mc --restart always bb:1 sh -c '
echo "Starting net.minecraft.server.Main"
echo "[10:33:20] [ServerMain/INFO]: Environment: Environment[sessionHost=https://sessionserver.mojang.com, servicesHost=https://api.minecraftservices.com, name=PROD]"
echo "[10:33:20] [ServerMain/ERROR]: Failed to load properties from file: server.properties"
echo "[10:33:21] [ServerMain/WARN]: Failed to load eula.txt"
echo "[10:33:21] [ServerMain/INFO]: You need to agree to the EULA in order to run the server. Go to eula.txt for more info."
exit 0'
sleep 14
bcon-exporter diagnose mc
